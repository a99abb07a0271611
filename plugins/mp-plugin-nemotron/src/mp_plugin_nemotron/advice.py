"""What to know before training with a recipe of a Nemotron model."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Advice, MixedPrecisionConfig, hookimpl

SOURCE = "Megatron-Bridge training/mixed_precision.py"
COUNTS = ("num_layers_at_start_in_bf16", "num_layers_at_end_in_bf16")
NANO = "nanov2_bf16_with_fp8_current_scaling_mixed"
#: The model of each recipe, by the recipe's name.
MODELS = {
    NANO: "Nemotron Nano v2",
    "nemotron_3_super_bf16_with_nvfp4_mixed": "Nemotron 3 Super",
    "nemotron_3_ultra_bf16_with_nvfp4_mixed": "Nemotron 3 Ultra",
    "nemotron_h_bf16_with_fp8_current_scaling_mixed": "Nemotron-H",
}
NAME = Advice(
    "The name says current scaling, but the values are blockwise and are kept so: it runs where "
    "blockwise runs, and bf16_with_fp8_current_scaling_mixed is current scaling.",
    SOURCE,
    ("fp8_recipe",),
)


@hookimpl
def mp_advice(config: MixedPrecisionConfig) -> Iterator[Advice]:
    """Say for which model the number of BF16 layers is, and where a name misleads."""
    if config.recipe == NANO and config.fp8_recipe == "blockwise":
        yield NAME
    if config.recipe in MODELS and config.first_last_layers_bf16:
        first, last = (getattr(config, name) for name in COUNTS)
        text = (
            f"{first} layers at the start and {last} at the end stay in BF16, as published for "
            f"{MODELS[config.recipe]}: set the counts for another model."
        )
        yield Advice(text, SOURCE, ("first_last_layers_bf16", *COUNTS))
