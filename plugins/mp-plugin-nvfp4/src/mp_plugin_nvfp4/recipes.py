"""NVFP4: FP4 with an E4M3 scale for each block of 16 values and one scale a tensor."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig, derive


def bf16_with_nvfp4_mixed() -> MixedPrecisionConfig:
    """Return BF16 with NVFP4 matrix products; every layer computes in FP4."""
    # fp8_param is False and not None: that no parameter is in FP8 is part of what it says.
    return derive(
        "bf16_mixed", fp4="e2m1", fp4_recipe="nvfp4", fp8_param=False, fp4_param_gather=True
    )
