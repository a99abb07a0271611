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
    """Yield the variables at work, where FP8 or FP4 is on."""
    if config.fp8 or config.fp4:
        yield from switched(situation, SWITCHES, RULE)
        if config.fp8_dot_product_attention:
            yield from switched(situation, ATTENTION_SWITCHES, ATTENTION_RULE)
