"""The hooks that mp_core calls in this plugin."""

from __future__ import annotations

from collections.abc import Mapping

from mp_core import hookimpl
from mp_plugin_subchannel.advice import mp_advice
from mp_plugin_subchannel.checks import mp_check, mp_rules, mp_variables
from mp_plugin_subchannel.memory import mp_bytes_per_parameter
from mp_plugin_subchannel.transformer_engine import mp_te_recipe

__all__ = [
    "mp_advice",
    "mp_bytes_per_parameter",
    "mp_check",
    "mp_rules",
    "mp_te_recipe",
    "mp_variables",
    "mp_vocabulary",
]


@hookimpl
def mp_vocabulary() -> Mapping[str, Mapping[str, str]]:
    """Return the values that subchannel scaling makes legal."""
    return {
        "fp8": {
            "e4m3": "E4M3 in both passes",
            "hybrid": "E4M3 forward, E5M2 for gradients",
        },
        "fp8_recipe": {"blockwise": "a scale for each block of 128 values"},
    }
