"""Rules on the values of a config with MXFP8 and of its targets."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import UNKNOWN, Finding, MixedPrecisionConfig, Situation, hookimpl
from mp_core.checking import any_true, unused_knobs

#: megatron-core passes MXFP8BlockScaling its format and its attention flag only.
UNUSED = (
    "fp8_amax_compute_algo",
    "fp8_amax_history_len",
    "fp8_margin",
    "fp8_multi_head_attention",
    "fp8_wgrad",
)
#: Each of these gathers parameters in its own buffers; Megatron's own DDP needs the reuse.
FSDP = ("use_custom_fsdp", "use_megatron_fsdp", "use_torch_fsdp2")
REUSE = "reuse_grad_buf_for_mxfp8_param_ag"


@hookimpl
def mp_check(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Yield MX101 for the hybrid format, MX102 for a gather without reuse, MX103 for dead knobs."""
    if not config.fp8 or config.fp8_recipe != "mxfp8":
        return
    if config.fp8 == "hybrid":
        message = "fp8='hybrid' takes gradients in E5M2; MXFP8 training diverged with it."
        yield Finding("MX101", "warning", message, "Type fp8=e4m3.", "Megatron-Bridge PR #638")
    if config.fp8_param_gather and not config.reuse_grad_buf_for_mxfp8_param_ag:
        yield from _gather_without_reuse(situation)
    why = "under fp8_recipe='mxfp8', only under 'delayed'"
    yield from unused_knobs(config, UNUSED, "MX103", why, "megatron-core fp8_utils.py")


def _gather_without_reuse(situation: Situation) -> Iterator[Finding]:
    sharded = any_true(situation, *FSDP)
    if sharded is True:
        return
    message = f"fp8_param_gather=True with {REUSE}=False is for FSDP only"
    remedy = f"Type {REUSE}=true, or fp8_param_gather=false."
    source = "Megatron-Bridge PR #450, PR #3796"
    if sharded is UNKNOWN:
        message += f", and none of {', '.join(FSDP)} is known."
        yield Finding("MX102", "unknown", message, remedy, source)
    else:
        yield Finding("MX102", "error", f"{message}, which is off.", remedy, source)
