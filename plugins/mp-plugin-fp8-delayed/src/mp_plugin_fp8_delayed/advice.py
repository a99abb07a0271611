"""What to know before training with delayed scaling."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Advice, MixedPrecisionConfig, hookimpl

#: Names under which the recipes were first published, and today's.
OLDER_NAMES = {
    "bf16_with_fp8_mixed": "bf16_with_fp8_delayed_scaling_mixed",
    "fp16_with_fp8_mixed": "fp16_with_fp8_delayed_scaling_mixed",
}
CHECKPOINT = Advice(
    "A checkpoint holds the amax history and resuming needs it. Transformer Engine 2.18 and later "
    "refuses to load it unless NVTE_ALLOW_UNSAFE_PICKLE_EXTRA_STATE=1: set it for files you trust.",
    "TransformerEngine PR #3123; Megatron-Bridge#1730",
    ("fp8_amax_history_len", "fp8_recipe"),
)


@hookimpl
def mp_advice(config: MixedPrecisionConfig) -> Iterator[Advice]:
    """Warn about resuming, and tell today's name of a recipe asked for by its older one."""
    if config.fp8 and config.fp8_recipe == "delayed":
        yield CHECKPOINT
    if config.recipe in OLDER_NAMES:
        text = f"{config.recipe} is the older name of {OLDER_NAMES[config.recipe]}: same values."
        yield Advice(text, "Megatron-Bridge PR #575")
