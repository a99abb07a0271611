"""MXFP8: FP8 with a power-of-two scale for each block of 32 values."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig, derive


def bf16_with_mxfp8_mixed() -> MixedPrecisionConfig:
    """Return BF16 with MXFP8 matrix products, E4M3 in both passes."""
    return _mxfp8("bf16_mixed")


def fp16_with_mxfp8_mixed() -> MixedPrecisionConfig:
    """Return FP16 with MXFP8 matrix products, E4M3 in both passes."""
    return _mxfp8("fp16_mixed")


def _mxfp8(base: str) -> MixedPrecisionConfig:
    return derive(
        base,
        fp8="e4m3",
        fp8_recipe="mxfp8",
        fp8_param_gather=True,
        reuse_grad_buf_for_mxfp8_param_ag=True,
    )
