"""FP8 with current scaling: each tensor's scale comes from the tensor itself."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig, derive


def bf16_with_fp8_current_scaling_mixed() -> MixedPrecisionConfig:
    """Return BF16 with FP8 matrix products, current scaling, first and last layer in BF16."""
    return _current("bf16_mixed")


def fp16_with_fp8_current_scaling_mixed() -> MixedPrecisionConfig:
    """Return FP16 with FP8 matrix products, current scaling, first and last layer in FP16."""
    return _current("fp16_mixed")


def _current(base: str) -> MixedPrecisionConfig:
    return derive(
        base,
        fp8="hybrid",
        fp8_recipe="tensorwise",
        first_last_layers_bf16=True,
        num_layers_at_start_in_bf16=1,
        num_layers_at_end_in_bf16=1,
        fp8_param_gather=True,
    )
