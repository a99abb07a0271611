"""Ask the plugins for the call that makes a config's recipe object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mp_core.plugins import hooks
from mp_core.situation import situation_of

if TYPE_CHECKING:
    from mp_core.calls import Call
    from mp_core.config import MixedPrecisionConfig


def recipe_call(config: MixedPrecisionConfig, situation: Any = None) -> Call | None:
    """Return the call that makes the recipe object of *config*, None where it has none.

    situation: as mp_core.check takes. Raises InvalidPrecision for what the class cannot hold.
    """
    config.validate()
    call: Call | None = hooks().mp_te_recipe(config=config, situation=situation_of(situation))
    return call
