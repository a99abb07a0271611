"""The hooks that mp_core calls in this plugin."""

from __future__ import annotations

__all__: list[str] = []
