"""Rules on a config with current scaling, and where it runs."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Finding, MixedPrecisionConfig, Rule, Situation, hookimpl
from mp_core.checking import unused_knobs
from mp_core.requirements import Place, Requirements
from mp_plugin_transformer_engine.attention import (
    BLACKWELL,
    HOPPER,
    OFF,
    SOURCE,
    attention,
    attention_rules,
    check_attention,
)
from mp_plugin_transformer_engine.fp8 import (
    DELAYED_KNOBS,
    check_shapes,
    in_base,
    shape_rules,
    tensor_scaling,
)
from mp_plugin_transformer_engine.switches import Switch, described, switched, variable_rule

WHAT = "FP8 with current scaling"
DEAD = Rule(
    "CS101",
    "megatron-core passes Float8CurrentScaling its format and its attention flag only.",
    "The setting changes nothing.",
    "megatron-core fp8_utils.py",
)
GAUDI = Place(
    "gaudi:*",
    "Intel Gaudi habana_frameworks transformer_engine, README",
    but="its own Transformer Engine documents DelayedScaling only.",
    severity="unknown",
    remedy="Type bf16_with_fp8_delayed_scaling_mixed.",
)
REQUIREMENTS = Requirements(
    WHAT,
    "CS",
    (*tensor_scaling("2.2"), GAUDI),
    "TransformerEngine pytorch/quantization.py, 1.0 to 2.20",
)
HOPPER_TRAINS_NONE = "its kernel there is for inference; training has one from 10.0 on."
ATTENTION = attention(
    "CS",
    "current scaling",
    Place(HOPPER, SOURCE, no=HOPPER_TRAINS_NONE, remedy=OFF),
    Place(BLACKWELL, SOURCE, cudnn="9.14", transformer_engine="2.8"),
)
POWERS = "scales are powers of two"
SWITCHES = (Switch("NVTE_FP8_CURRENT_SCALING_POWER_2_SCALES", POWERS, "2.8"),)
SHAPES = shape_rules("CS", WHAT, "TransformerEngine assert_dim_for_fp8_exec, PR #317")
MULTIPLE = 16
SWITCHED = variable_rule("CS", WHAT)


@hookimpl
def mp_rules() -> tuple[Rule, ...]:
    """Return this plugin's rules."""
    return (DEAD, SWITCHED, *REQUIREMENTS.rules(), *attention_rules(ATTENTION), *SHAPES)


@hookimpl
def mp_variables() -> dict[str, str]:
    """Return the variables that change current scaling."""
    return described(SWITCHES)


@hookimpl
def mp_check(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Yield what stands against current scaling, where it is on."""
    if not config.fp8 or config.fp8_recipe != "tensorwise":
        return
    why = "under fp8_recipe='tensorwise', only under 'delayed'"
    yield from unused_knobs(config, DELAYED_KNOBS, DEAD, why)
    yield from in_base(config, REQUIREMENTS.check(situation))
    yield from check_attention(config, situation, ATTENTION)
    yield from switched(situation, SWITCHES, SWITCHED)
    yield from check_shapes(situation, MULTIPLE, SHAPES, WHAT)
