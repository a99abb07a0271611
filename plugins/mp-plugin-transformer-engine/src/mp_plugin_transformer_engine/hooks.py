"""The hooks that mp_core calls in this plugin."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Finding, MixedPrecisionConfig, Rule, Situation, hookimpl
from mp_plugin_transformer_engine.switches import (
    ATTENTION_RULE,
    ATTENTION_SWITCHES,
    RULE,
    SWITCHES,
    described,
    switched,
)

#: Those that this plugin makes objects of; a vendor's own are not its matter.
RECIPES = ("blockwise", "delayed", "mxfp8", "nvfp4", "tensorwise")


@hookimpl
def mp_rules() -> tuple[Rule, ...]:
    """Return the rules that hold for every recipe of Transformer Engine."""
    return RULE, ATTENTION_RULE


@hookimpl
def mp_variables() -> dict[str, str]:
    """Return the variables that change every recipe, or its attention."""
    return described((*SWITCHES, *ATTENTION_SWITCHES))


@hookimpl
def mp_check(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Yield the variables at work, where a recipe of Transformer Engine's is on."""
    recipe = config.fp8_recipe if config.fp8 else config.fp4_recipe if config.fp4 else ""
    if recipe in RECIPES:
        yield from switched(situation, SWITCHES, RULE)
        if config.fp8_dot_product_attention:
            yield from switched(situation, ATTENTION_SWITCHES, ATTENTION_RULE)
