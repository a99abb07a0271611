"""The hooks that mp_core calls in this plugin."""

from __future__ import annotations

from mp_plugin_half.advice import mp_advice
from mp_plugin_half.checks import mp_check, mp_rules

__all__ = ["mp_advice", "mp_check", "mp_rules"]
