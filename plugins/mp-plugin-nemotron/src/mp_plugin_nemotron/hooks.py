"""The hooks that mp_core calls in this plugin."""

from __future__ import annotations

from mp_plugin_nemotron.advice import mp_advice

__all__ = ["mp_advice"]
