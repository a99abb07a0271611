"""FP8 with subchannel scaling: a scale for each block, 1x128 of inputs, 128x128 of weights."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig, derive


def bf16_with_fp8_subchannel_scaling_mixed() -> MixedPrecisionConfig:
    """Return BF16 with FP8 matrix products and blockwise scaling; parameters stay in BF16."""
    return _subchannel("bf16_mixed")


def fp16_with_fp8_subchannel_scaling_mixed() -> MixedPrecisionConfig:
    """Return FP16 with FP8 matrix products and blockwise scaling; parameters stay in FP16."""
    return _subchannel("fp16_mixed")


def _subchannel(base: str) -> MixedPrecisionConfig:
    # False and not None: that parameters stay in 16 bits is part of what the recipe says.
    return derive(base, fp8="hybrid", fp8_recipe="blockwise", fp8_param=False)
