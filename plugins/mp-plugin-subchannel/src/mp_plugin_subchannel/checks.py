"""Rules on the values of a config with subchannel (blockwise) scaling."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Finding, MixedPrecisionConfig, hookimpl
from mp_core.checking import unused_knobs

#: megatron-core passes Float8BlockScaling its format only.
UNUSED = (
    "fp8_amax_compute_algo",
    "fp8_amax_history_len",
    "fp8_margin",
    "fp8_multi_head_attention",
    "fp8_wgrad",
)


@hookimpl
def mp_check(config: MixedPrecisionConfig) -> Iterator[Finding]:
    """Yield SC101 for FP8 attention, which has no blockwise form, and SC102 for dead knobs."""
    if not config.fp8 or config.fp8_recipe != "blockwise":
        return
    if config.fp8_dot_product_attention:
        message = (
            "fp8_dot_product_attention=True under fp8_recipe='blockwise': Transformer Engine "
            "disables FP8 attention with this recipe, so attention stays in 16 bits."
        )
        remedy = "Type fp8_dot_product_attention=false."
        source = "TransformerEngine pytorch/attention/dot_product_attention/utils.py"
        yield Finding("SC101", "warning", message, remedy, source)
    why = "under fp8_recipe='blockwise', only under 'delayed'"
    yield from unused_knobs(config, UNUSED, "SC102", why, "megatron-core fp8_utils.py")
