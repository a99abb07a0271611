"""The hooks that mp_core calls in this plugin."""

from __future__ import annotations

from collections.abc import Mapping

from mp_core import hookimpl
from mp_plugin_nvfp4.advice import mp_advice
from mp_plugin_nvfp4.checks import mp_check, mp_rules, mp_variables
from mp_plugin_nvfp4.memory import mp_bytes_per_parameter
from mp_plugin_nvfp4.transformer_engine import mp_te_recipe

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
    """Return the values that NVFP4 makes legal."""
    return {
        "fp4": {"e2m1": "E2M1 in both passes"},
        "fp4_recipe": {"nvfp4": "an E4M3 scale for each 16 values"},
    }
