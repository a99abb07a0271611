"""Where NVFP4 trains, and the multiples that its kernels need."""

from __future__ import annotations

from mp_core.requirements import Place, Requirements
from mp_plugin_transformer_engine.fp8 import (
    NOT_ON_GAUDI,
    ROCM,
    not_before_blackwell,
    shape_rules,
)
from mp_plugin_transformer_engine.switches import Switch

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
SWITCHES = (
    Switch("NVTE_NVFP4_4OVER6", "some blocks are scaled to a maximum of 4, not 6", "2.17", "none"),
    Switch("NVTE_NVFP4_4OVER6_E4M3_USE_256", "4over6 scales are bounded otherwise", "2.17", "all"),
    Switch("NVTE_NVFP4_4OVER6_ERR_MODE", "4over6 chooses by another error", "2.17", "MAE"),
    Switch("NVTE_NVFP4_DISABLE_2D_QUANTIZATION", "weights have blocks of 16, not 16x16", "2.8"),
    Switch("NVTE_NVFP4_DISABLE_RHT", "there is no random Hadamard transform", "2.8"),
    Switch("NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING", "gradients round to nearest", "2.8"),
    Switch("NVTE_NVFP4_ROW_SCALED_ACTIVATION", "activations have a scale for each row", "2.16"),
)
