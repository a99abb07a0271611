"""Acme's FP8, by name."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig, derive


def bf16_with_acme_fp8_mixed() -> MixedPrecisionConfig:
    """Return BF16 with FP8 matrix products on Acme's NPUs, E4M3 in both passes."""
    return derive("bf16_mixed", fp8="e4m3", fp8_recipe="acme")
