"""What to know before training with MXFP8."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Advice, MixedPrecisionConfig, hookimpl

CORRECTED = Advice(
    "First published with fp8=hybrid and no parameter gather, which diverged (E5M2 gradients); "
    "corrected to e4m3 in both passes, with gather and reuse of the gradient buffer.",
    "Megatron-Bridge PR #638; NeMo PR #14793",
    ("fp8", "fp8_param_gather", "reuse_grad_buf_for_mxfp8_param_ag"),
)
GATHER = Advice(
    "The gather moves parameters in the base 16-bit dtype through the gradient buffer and "
    "quantizes them afterwards, so fp8_param_gather saves no bandwidth here.",
    "Megatron-LM#2063; megatron-core distributed/param_and_grad_buffer.py",
    ("fp8_param_gather", "reuse_grad_buf_for_mxfp8_param_ag"),
)
MEMORY = Advice(
    "With fp8_param_gather=false each weight is kept in 16 bits and quantized beside it: weights "
    "take more memory than in the base recipe, not less.",
    "TransformerEngine#1429; Megatron-LM#1237",
    ("fp8_param", "fp8_param_gather"),
)


@hookimpl
def mp_advice(config: MixedPrecisionConfig) -> Iterator[Advice]:
    """Say why the format is E4M3, and what gathering parameters does and does not save."""
    if config.fp8 and config.fp8_recipe == "mxfp8":
        yield CORRECTED
        yield GATHER if config.fp8_param_gather else MEMORY
