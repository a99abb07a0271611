"""What to know before training with current scaling."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Advice, MixedPrecisionConfig, hookimpl


@hookimpl
def mp_advice(config: MixedPrecisionConfig) -> Iterator[Advice]:
    """Say which layers stay out of FP8, and in which dtype they really compute."""
    if config.fp8 and config.fp8_recipe == "tensorwise" and config.first_last_layers_bf16:
        yield _protected(config)


def _protected(config: MixedPrecisionConfig) -> Advice:
    fields = ("num_layers_at_start_in_bf16", "num_layers_at_end_in_bf16")
    first, last = (getattr(config, field) for field in fields)
    mode = "FP16" if config.fp16 else "BF16"
    text = f"Layers that compute in {mode} and not in FP8: {first} at the start, {last} at the end."
    if config.fp16:
        text += " The fields say bf16 whatever the base is; it means the base 16-bit dtype."
    source = "megatron-core fp8_utils.py, get_fp8_context"
    return Advice(text, source, ("first_last_layers_bf16", *fields))
