"""Where NVFP4 trains, and the multiples that its kernels need."""

from __future__ import annotations

from mp_core.requirements import Place, Requirements
from mp_plugin_transformer_engine.fp8 import (
    NOT_ON_GAUDI,
    ROCM,
    not_before_blackwell,
    shape_rules,
)

WHAT = "NVFP4"
CHECK = "TransformerEngine pytorch/quantization.py, check_nvfp4_support"
SM100 = Place("cuda:sm100..sm119", CHECK, "12.8", "12.8", transformer_engine="2.8")
PLACES = (
    *not_before_blackwell(CHECK),
    SM100,
    SM100._replace(
        device="cuda:sm120..",
        source="TransformerEngine#2255, #2956",
        variables=(
            "NVTE_NVFP4_DISABLE_RHT=1",
            "NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING=1",
        ),
        but="documented for inference; training is reported to work with both variables set.",
    ),
    Place(
        "rocm:gfx942",
        ROCM,
        transformer_engine="2.8",
        but="ROCm's Transformer Engine passes its check; no published run is known.",
        severity="note",
    ),
    Place(
        "rocm:gfx950",
        ROCM,
        transformer_engine="2.8",
        but="ROCm's Transformer Engine passes its check; no published run is known.",
        severity="note",
    ),
    NOT_ON_GAUDI,
)
REQUIREMENTS = Requirements(WHAT, "NV", PLACES, f"{CHECK}, 2.8 to 2.20")
SHAPES = shape_rules("NV", WHAT, "TransformerEngine common quantize_transpose_nvfp4.cuh")
MULTIPLE = 32
