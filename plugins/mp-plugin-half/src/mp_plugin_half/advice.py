"""What to know before training in BF16 or FP16, whatever else the recipe does."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Advice, MixedPrecisionConfig, hookimpl

BF16_REDUCTION = Advice(
    "BF16 has 8 bits of significand, so a sum over many ranks loses small gradients: "
    "grad_reduce_in_fp32=true keeps them, at twice the bytes.",
    "Megatron-LM#502, #372, #1335",
    ("grad_reduce_in_fp32",),
)
FP16_REDUCTION = Advice(
    "FP16 has 11 bits of significand, its loss scaling keeps gradients in range and an overflow "
    "is seen and skipped, so they are reduced in FP16 (grad_reduce_in_fp32=false).",
    "Megatron-LM#502, #1335",
    ("grad_reduce_in_fp32",),
)


@hookimpl
def mp_advice(config: MixedPrecisionConfig) -> Iterator[Advice]:
    """Say why the two modes reduce gradients differently, and what the loss scaler does."""
    if config.bf16:
        yield BF16_REDUCTION
    if config.fp16:
        yield FP16_REDUCTION
        yield _loss_scale(config)


def _loss_scale(config: MixedPrecisionConfig) -> Advice:
    source = "Megatron-Bridge PR #371; megatron-core optimizer/grad_scaler.py"
    if config.loss_scale is not None:
        text = (
            f"The loss scale is fixed at {config.loss_scale:.10g}: a step that overflows is "
            "skipped and the scale stays. loss_scale=none makes it dynamic."
        )
        return Advice(text, source, ("loss_scale",))
    start = "" if config.initial_loss_scale is None else f" at {config.initial_loss_scale:.10g}"
    text = (
        f"FP16 needs its dynamic loss scaler, which starts{start}: expect the first steps to be "
        "skipped while the scale halves until no gradient overflows."
    )
    return Advice(text, source, ("loss_scale", "initial_loss_scale"))
