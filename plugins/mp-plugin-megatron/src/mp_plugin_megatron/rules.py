"""The rules of this plugin's checks: why each exists, what follows, and where it is written."""

from __future__ import annotations

from mp_core import Rule

BASE = Rule(
    "MG101",
    "FP8 and FP4 run over a 16-bit base.",
    "Everything else runs in FP32, slowly.",
    "Megatron-LM#883, Megatron-LM#860",
)
GRADIENTS = Rule(
    "MG102",
    "The gradient buffer and the optimizer's main gradients are one thing when they agree.",
    "Both are kept, which costs memory and rounds gradients once more.",
    "verl PR #7485",
    "layout",
)
OFFLOAD = Rule(
    "MG103",
    "Optimizer CPU offload gathers FP8 parameters only under delayed scaling.",
    "Megatron-LM refuses the pair.",
    "Megatron-LM PR #2788",
    "layout",
)
GATHER = Rule(
    "MG104",
    "Quantized parameters are gathered by the distributed optimizer or by FSDP.",
    "Nothing gathers them; Megatron-LM refuses the pair, its config classes do not.",
    "Megatron-LM arguments.py",
    "layout",
)
DENSE = Rule(
    "MG105",
    "Recomputing dense MLP layers beside experts fails under FP8.",
    "The run stops with an unexpected keyword argument.",
    "Megatron-Bridge commit 034fdb1b9",
    "layout",
)
RECOMPUTE = Rule(
    "MG106",
    "What is recomputed in the backward pass is quantized once more, or not at all.",
    "Memory or loss may differ from the run without recompute.",
    "Megatron-LM#1236, Megatron-LM#1210",
    "layout",
)
SCALER = Rule(
    "MG107",
    "FP16 needs a static or a dynamic loss scale.",
    "Gradients underflow to zero.",
    "Megatron-Bridge PR #371",
    "layout",
)
REUSE = Rule(
    "MG108",
    "The gradient buffer cannot hold parameters while the optimizer step gathers them.",
    "Megatron-LM refuses the pair.",
    "Megatron-LM arguments.py",
    "layout",
)
RELEASE = Rule(
    "MG201",
    "A recipe needs a megatron-core whose config classes hold its fields and values.",
    "The value lands nowhere, and the run trains in another precision.",
    "megatron-core transformer_config.py, distributed_data_parallel_config.py, enums.py",
    "machine",
)
FP4_GATHER = Rule(
    "MG202",
    "The DDP field of the FP4 gather came before the optimizer that carries it out.",
    "The gather fails, or parameters go stale.",
    "Megatron-LM#2284; TransformerEngine#2352",
    "machine",
)
ATTENTION = Rule(
    "MG203",
    "FP8 attention reaches the recipe object of Transformer Engine from some version on only.",
    "The setting is dropped without a word, and attention stays in 16 bits.",
    "megatron-core fp8_utils.py, fp4_utils.py, 0.14 to 0.19",
    "machine",
)
STAGES = Rule(
    "MG301",
    "Layers kept in BF16 are counted within the first and the last pipeline stage.",
    "TransformerConfig refuses them under FP8; a model of such layers alone is plain BF16.",
    "megatron-core transformer_config.py, 0.12 to 0.19",
    "layout",
)
RULES = (
    BASE,
    GRADIENTS,
    OFFLOAD,
    GATHER,
    DENSE,
    RECOMPUTE,
    SCALER,
    REUSE,
    RELEASE,
    FP4_GATHER,
    ATTENTION,
    STAGES,
)
