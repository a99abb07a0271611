"""Rules on a config with delayed scaling, and where it runs."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import UNKNOWN, Finding, MixedPrecisionConfig, Rule, Situation, hookimpl
from mp_core.releases import within
from mp_core.requirements import Place, Requirements
from mp_plugin_transformer_engine.attention import (
    BLACKWELL,
    HOPPER,
    SOURCE,
    attention,
    attention_rules,
    check_attention,
)
from mp_plugin_transformer_engine.fp8 import check_shapes, in_base, shape_rules, tensor_scaling
from mp_plugin_transformer_engine.switches import OVERRIDE

WHAT = "FP8 with delayed scaling"
FIRST_LAYERS = Rule(
    "DS101",
    "The amax history of delayed scaling covers every layer; none can stay out of FP8.",
    "TransformerConfig refuses the pair with a ValueError.",
    "megatron-core transformer_config.py, 0.12 to 0.19",
)
RESUME = Rule(
    "DS501",
    "A checkpoint of delayed scaling holds pickled state, which is code to whoever loads it.",
    "Transformer Engine 2.18 and later refuses to load it, so the run cannot resume.",
    "TransformerEngine pytorch/_extra_state.py, 2.18; Megatron-Bridge#1730; Megatron-LM#1350",
    "checkpoint",
)
SAVED_INPUT = Rule(
    "DS207",
    "megatron-core 0.14 asks layers to save their input in a way delayed scaling cannot.",
    "The first forward pass fails: DelayedScaling is not supported with save_original_input.",
    "Megatron-Bridge#1707; Megatron-LM PR #1860",
    "machine",
)
NO_OVERRIDE = Rule(
    "DS601",
    "Delayed scaling has no other precision for its backward pass.",
    "Making the recipe's object fails with an AssertionError.",
    "TransformerEngine common/recipe/__init__.py, 2.15 to 2.20",
    "machine",
)
REQUIREMENTS = Requirements(
    WHAT,
    "DS",
    (*tensor_scaling("1.0"), Place("gaudi:*", "Intel Gaudi habana_frameworks, README")),
    "TransformerEngine pytorch/quantization.py, 1.0 to 2.20",
)
ATTENTION = attention(
    "DS",
    "delayed scaling",
    Place(HOPPER, SOURCE, transformer_engine="1.0"),
    Place(BLACKWELL, SOURCE, transformer_engine="1.0"),
)
SHAPES = shape_rules("DS", WHAT, "TransformerEngine assert_dim_for_fp8_exec, PR #317; #1422")
MULTIPLE = 16
UNSAFE = "NVTE_ALLOW_UNSAFE_PICKLE_EXTRA_STATE"


@hookimpl
def mp_rules() -> tuple[Rule, ...]:
    """Return this plugin's rules."""
    own = (FIRST_LAYERS, NO_OVERRIDE, RESUME, SAVED_INPUT)
    return (*own, *REQUIREMENTS.rules(), *attention_rules(ATTENTION), *SHAPES)


@hookimpl
def mp_variables() -> dict[str, str]:
    """Return the variables that change delayed scaling."""
    return {UNSAFE: "1 lets Transformer Engine 2.18 and later load amax histories on resume"}


@hookimpl
def mp_check(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Yield what stands against delayed scaling, where it is on."""
    if not config.fp8 or config.fp8_recipe != "delayed":
        return
    if config.first_last_layers_bf16:
        message = "first_last_layers_bf16=True under fp8_recipe='delayed' is refused by Megatron."
        yield FIRST_LAYERS.error(message, "Type first_last_layers_bf16=false.")
    yield from in_base(config, REQUIREMENTS.check(situation))
    yield from check_attention(config, situation, ATTENTION)
    yield from _releases(situation)
    yield from _override(situation)
    yield from check_shapes(situation, MULTIPLE, SHAPES, WHAT)


def _releases(situation: Situation) -> Iterator[Finding]:
    engine, core = situation.value("transformer_engine"), situation.value("megatron_core")
    if engine in (UNKNOWN, None):
        return
    if core not in (UNKNOWN, None) and within(core, "0.14", "0.15") and within(engine, "2.6"):
        pair = f"Transformer Engine {engine} with megatron-core {core}"
        message = f"{pair}: DelayedScaling is not supported with save_original_input."
        yield SAVED_INPUT.warning(message, "Use megatron-core 0.15, or current scaling.")
    if within(engine, "2.18") and situation.value(UNSAFE) in (None, UNKNOWN, "0"):
        message = f"Transformer Engine {engine} refuses to load an amax history from a checkpoint."
        yield RESUME.warning(message, f"export {UNSAFE}=1 to resume from files that you trust.")


def _override(situation: Situation) -> Iterator[Finding]:
    value, engine = situation.value(OVERRIDE), situation.value("transformer_engine")
    if value and (engine in (UNKNOWN, None) or within(engine, "2.15")):
        message = f"{OVERRIDE}={value}: delayed scaling takes none."
        yield NO_OVERRIDE.error(message, f"unset {OVERRIDE}.")
