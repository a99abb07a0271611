"""FP8 with delayed scaling: each tensor's scale comes from the maxima of earlier steps."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig, derive


def bf16_with_fp8_delayed_scaling_mixed() -> MixedPrecisionConfig:
    """Return BF16 with FP8 matrix products, delayed scaling over 1024 steps."""
    return _delayed("bf16_mixed")


def fp16_with_fp8_delayed_scaling_mixed() -> MixedPrecisionConfig:
    """Return FP16 with FP8 matrix products, delayed scaling over 1024 steps."""
    return _delayed("fp16_mixed")


def _delayed(base: str) -> MixedPrecisionConfig:
    return derive(
        base,
        fp8="hybrid",
        fp8_recipe="delayed",
        fp8_margin=0,
        fp8_amax_history_len=1024,
        fp8_amax_compute_algo="max",
        fp8_param_gather=True,
    )
