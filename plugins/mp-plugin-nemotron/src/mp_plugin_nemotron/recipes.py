"""The recipes that the Nemotron models were trained with."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig, derive


def nemotron_h_bf16_with_fp8_current_scaling_mixed() -> MixedPrecisionConfig:
    """Return BF16 with FP8 current scaling, 2 layers at either end in BF16 (Nemotron-H)."""
    return _fp8("tensorwise")


def nanov2_bf16_with_fp8_current_scaling_mixed() -> MixedPrecisionConfig:
    """Return BF16 with FP8 blockwise scaling, 2 layers at either end in BF16 (Nano v2).

    The name says current scaling; the values were blockwise from the start, and they are kept.
    """
    return _fp8("blockwise")


def nemotron_3_super_bf16_with_nvfp4_mixed() -> MixedPrecisionConfig:
    """Return BF16 with NVFP4, the last 14 layers in BF16 (Nemotron 3 Super)."""
    return _nvfp4(14)


def nemotron_3_ultra_bf16_with_nvfp4_mixed() -> MixedPrecisionConfig:
    """Return BF16 with NVFP4, the last 16 layers in BF16 (Nemotron 3 Ultra)."""
    return _nvfp4(16)


def _fp8(fp8_recipe: str) -> MixedPrecisionConfig:
    return derive(
        "bf16_mixed",
        fp8="hybrid",
        fp8_recipe=fp8_recipe,
        first_last_layers_bf16=True,
        num_layers_at_start_in_bf16=2,
        num_layers_at_end_in_bf16=2,
        fp8_param_gather=True,
    )


def _nvfp4(last_layers: int) -> MixedPrecisionConfig:
    # fp8_param is False and not None: that no parameter is in FP8 is part of what it says.
    return derive(
        "bf16_mixed",
        fp4="e2m1",
        fp4_recipe="nvfp4",
        fp8_param=False,
        fp4_param_gather=True,
        first_last_layers_bf16=True,
        num_layers_at_start_in_bf16=0,
        num_layers_at_end_in_bf16=last_layers,
    )
