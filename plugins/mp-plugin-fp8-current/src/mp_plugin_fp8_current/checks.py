"""Rules on the values of a config with current scaling."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Finding, MixedPrecisionConfig, hookimpl
from mp_core.checking import unused_knobs

#: megatron-core passes Float8CurrentScaling its format and its attention flag only.
UNUSED = (
    "fp8_amax_compute_algo",
    "fp8_amax_history_len",
    "fp8_margin",
    "fp8_multi_head_attention",
    "fp8_wgrad",
)


@hookimpl
def mp_check(config: MixedPrecisionConfig) -> Iterator[Finding]:
    """Yield CS101 for each setting of delayed scaling, which current scaling does not read."""
    if config.fp8 and config.fp8_recipe == "tensorwise":
        why = "under fp8_recipe='tensorwise', only under 'delayed'"
        yield from unused_knobs(config, UNUSED, "CS101", why, "megatron-core fp8_utils.py")
