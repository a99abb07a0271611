"""Rules on a config with NVFP4 and on its targets."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import UNKNOWN, Finding, MixedPrecisionConfig, Rule, Situation, hookimpl
from mp_core.checking import any_true
from mp_plugin_nvfp4.places import MULTIPLE, REQUIREMENTS, SHAPES, SWITCHES, WHAT
from mp_plugin_transformer_engine.attention import OFF, RECIPE, SOURCE
from mp_plugin_transformer_engine.fp8 import check_shapes
from mp_plugin_transformer_engine.switches import described, switched, variable_rule

SHARDED = Rule(
    "NV101",
    "An FP4 gather needs NVFP4 storage, which Megatron-FSDP does not have.",
    "The run fails when the model is wrapped.",
    "Megatron-LM#6928; Megatron-Bridge#1794",
    "layout",
)
LAST_LAYERS = Rule(
    "NV102",
    "A Llama 3 8B run needed its last 4 layers in BF16 to converge.",
    "The loss may stall above BF16's.",
    "Megatron-Bridge PR #1347",
)
ATTENTION = Rule(
    "NV401",
    "FP8 attention with the NVFP4 recipe has no backend unless it is given a recipe of its own.",
    "The first forward pass fails.",
    f"{SOURCE}; Megatron-Bridge PR #5394",
)
SWITCHED = variable_rule("NV", WHAT)
#: Megatron-FSDP's switch, and the name it had before megatron-core 0.14.
FSDP = ("use_custom_fsdp", "use_megatron_fsdp")


@hookimpl
def mp_rules() -> tuple[Rule, ...]:
    """Return this plugin's rules."""
    return (SHARDED, LAST_LAYERS, ATTENTION, SWITCHED, *REQUIREMENTS.rules(), *SHAPES)


@hookimpl
def mp_variables() -> dict[str, str]:
    """Return the variables that change NVFP4."""
    return described(SWITCHES)


@hookimpl
def mp_check(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Yield what stands against NVFP4, where it is on."""
    if not config.fp4 or config.fp4_recipe != "nvfp4":
        return
    if config.fp4_param_gather:
        yield from _gather_with_fsdp(situation)
    if not (config.first_last_layers_bf16 and config.num_layers_at_end_in_bf16):
        message = "0 layers at the end stay in BF16; a Llama 3 8B run needed 4 to converge."
        remedy = "Type first_last_layers_bf16=true,num_layers_at_end_in_bf16=4."
        yield LAST_LAYERS.note(message, remedy)
    yield from REQUIREMENTS.check(situation)
    needed = REQUIREMENTS.variables(situation)
    yield from switched(situation, SWITCHES, SWITCHED, needed)
    if config.fp8_dot_product_attention and not situation.value(RECIPE):
        message = "Transformer Engine has no FP8 attention with the NVFP4 recipe."
        yield ATTENTION.error(message, f"{OFF[:-1]}, or export {RECIPE}=Float8CurrentScaling.")
    yield from check_shapes(situation, MULTIPLE, SHAPES, WHAT)


def _gather_with_fsdp(situation: Situation) -> Iterator[Finding]:
    sharded = any_true(situation, *FSDP)
    remedy = "Type fp4_param_gather=false."
    message = "fp4_param_gather=True needs NVFP4 storage, which Megatron-FSDP does not have"
    if sharded is True:
        yield SHARDED.error(f"{message}, and it is on.", remedy)
    elif sharded is UNKNOWN:
        message += f"; whether it is used is not known ({', '.join(FSDP)})."
        yield SHARDED.unknown(message, f"Type --no-use-megatron-fsdp. Where it is on: {remedy}")
