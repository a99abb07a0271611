"""What to know before training with NVFP4."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Advice, MixedPrecisionConfig, hookimpl

LAST_LAYERS = Advice(
    "The recipe keeps no layer in BF16, but a Llama 3 8B run needed its last 4 layers in BF16 to "
    "converge: first_last_layers_bf16=true,num_layers_at_end_in_bf16=4.",
    "Megatron-Bridge PR #1347",
    ("first_last_layers_bf16", "num_layers_at_end_in_bf16"),
)
EPSILON = Advice(
    "Adam's epsilon changes convergence at this precision, and the value tuned for BF16 may not "
    "do: it is the optimizer's own setting, which no precision recipe sets.",
    "Megatron-Bridge PR #1178",
)
STORED = Advice(
    "Weights are held in FP4 while training, yet checkpoints keep FP32 main parameters and an "
    "export to Hugging Face is in BF16: no FP4 file comes out of it.",
    "Megatron-Bridge#2058",
    ("fp4_param", "fp4_param_gather"),
)


@hookimpl
def mp_advice(config: MixedPrecisionConfig) -> Iterator[Advice]:
    """Say what convergence needed beside the recipe, and what a checkpoint holds."""
    if config.fp4 and config.fp4_recipe == "nvfp4":
        if not (config.first_last_layers_bf16 and config.num_layers_at_end_in_bf16):
            yield LAST_LAYERS
        yield EPSILON
        if config.fp4_param_gather:
            yield STORED
