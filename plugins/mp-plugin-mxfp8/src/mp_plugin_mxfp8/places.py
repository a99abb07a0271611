"""Where MXFP8 runs, and the multiples that its blocks need."""

from __future__ import annotations

from mp_core.requirements import Place, Requirements
from mp_plugin_transformer_engine.attention import BLACKWELL, HOPPER, OFF, SOURCE, attention
from mp_plugin_transformer_engine.fp8 import (
    CURRENT,
    NOT_ON_GAUDI,
    ROCM,
    not_before_blackwell,
    shape_rules,
)

WHAT = "MXFP8"
CHECK = "TransformerEngine pytorch/quantization.py, check_mxfp8_support"
NEW = (
    "not all of its GEMM layouts are supported on 12.0 and above; Transformer Engine 2.6 and later "
    "refuses."
)
OTHERS = (
    "Type bf16_with_fp8_current_scaling_mixed, or bf16_with_fp8_subchannel_scaling_mixed with "
    "Transformer Engine 2.9 and CUDA 12.9."
)
SM100 = Place("cuda:sm100..sm119", CHECK, "12.8", "12.8", transformer_engine="2.0")
PLACES = (
    *not_before_blackwell(CHECK),
    SM100,
    Place("cuda:sm120..", "TransformerEngine#2304, #2668; Megatron-LM#4175", no=NEW, remedy=OTHERS),
    Place(
        "rocm:gfx942", ROCM, no="ROCm's Transformer Engine has it from gfx950 on.", remedy=CURRENT
    ),
    Place("rocm:gfx950", ROCM, transformer_engine="2.0", variables=("NVTE_ROCM_ENABLE_MXFP8=1",)),
    NOT_ON_GAUDI,
)
REQUIREMENTS = Requirements(WHAT, "MX", PLACES, f"{CHECK}, 2.0 to 2.20")
ATTENTION = attention(
    "MX",
    WHAT,
    Place(HOPPER, SOURCE, no="it needs compute capability 10.0 or higher.", remedy=OFF),
    Place(
        BLACKWELL,
        SOURCE,
        cudnn="9.21",
        transformer_engine="2.15",
        but="no backend takes packed sequences (qkv_format thd).",
        severity="note",
        remedy=f"With packed sequences: {OFF}",
    ),
)
SHAPES = shape_rules(
    "MX", WHAT, "TransformerEngine MXFP8Quantizer.is_quantizable; ROCm/Megatron-LM#130"
)
MULTIPLE = 32
#: hipBLASLt's: a GEMM of 11008 / 8 = 1376 fails.
ROCM_MULTIPLE = 128
