"""The two 16-bit recipes, on which every other recipe builds."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig


def bf16_mixed() -> MixedPrecisionConfig:
    """Return BF16 with FP32 main parameters and gradients reduced in FP32."""
    return MixedPrecisionConfig(
        bf16=True,
        params_dtype="bfloat16",
        pipeline_dtype="bfloat16",
        autocast_enabled=False,
        grad_reduce_in_fp32=True,
    )


def fp16_mixed() -> MixedPrecisionConfig:
    """Return FP16 with FP32 main parameters, a loss scaler, and gradients reduced in FP16."""
    return MixedPrecisionConfig(
        fp16=True,
        params_dtype="float16",
        pipeline_dtype="float16",
        autocast_enabled=False,
        grad_reduce_in_fp32=False,
    )
