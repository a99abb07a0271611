"""What to know before training with subchannel (blockwise) scaling."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Advice, MixedPrecisionConfig, hookimpl

HARDWARE = Advice(
    "Blockwise products are Hopper's, with CUDA 12.9 or later. On Blackwell, Transformer Engine "
    "2.9 and later emulates them with MXFP8 and power-of-two scales, so numbers can differ.",
    "TransformerEngine PR #2157; verl#6172",
    ("fp8_recipe",),
)
GATHER = Advice(
    "fp8_param_gather=true stores parameters in FP8 blocks, also tensors that published "
    "checkpoints of such models keep in BF16.",
    "Megatron-LM#5267",
    ("fp8_param", "fp8_param_gather"),
)


@hookimpl
def mp_advice(config: MixedPrecisionConfig) -> Iterator[Advice]:
    """Say where blockwise scaling is native, and what gathering its parameters means."""
    if config.fp8 and config.fp8_recipe == "blockwise":
        yield HARDWARE
        if config.fp8_param_gather:
            yield GATHER
