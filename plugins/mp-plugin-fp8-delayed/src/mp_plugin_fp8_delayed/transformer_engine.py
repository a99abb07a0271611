"""Transformer Engine's recipe object of this precision."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig, Situation, hookimpl
from mp_core.calls import Call
from mp_plugin_transformer_engine.recipe_objects import recipe_call


@hookimpl
def mp_te_recipe(config: MixedPrecisionConfig, situation: Situation) -> Call | None:
    """Return the call of DelayedScaling, where this precision is on."""
    if not config.fp8 or config.fp8_recipe != "delayed":
        return None
    return recipe_call(config, situation, "DelayedScaling")
