"""Rules on quantized parameters: who gathers them, and through which buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mp_core import UNKNOWN, Finding, Rule
from mp_core.releases import at_least

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig, Situation
    from mp_core.findings import Severity

OFFLOAD = Rule(
    "MG103",
    "Optimizer CPU offload gathers FP8 parameters only under delayed scaling.",
    "Megatron-LM refuses the pair.",
    "Megatron-LM PR #2788",
    "layout",
)
GATHER = Rule(
    "MG104",
    "Quantized parameters are gathered by the distributed optimizer or by FSDP.",
    "Nothing gathers them; Megatron-LM refuses the pair, its config classes do not.",
    "Megatron-LM arguments.py",
    "layout",
)
REUSE = Rule(
    "MG108",
    "The gradient buffer cannot hold parameters while the optimizer step gathers them.",
    "Megatron-LM refuses the pair.",
    "Megatron-LM arguments.py",
    "layout",
)
ZEROES = Rule(
    "MG111",
    "Before 0.18 the dense optimizer's sync emptied the buffer that experts' parameters stood in.",
    "The loss may be NaN from the second step on.",
    "Megatron-LM#2272, PR #4800; megatron-core optimizer/optimizer.py, 0.17 and 0.18",
    "layout",
)
STALE = Rule(
    "MG112",
    "Before 0.19 a forced sync gathered a buffer that no longer held the parameters.",
    "Evaluation and checkpoints may see stale or zeroed weights, and training goes on with them.",
    "Megatron-LM PR #5236, PR #4563; Megatron-Bridge PR #3980, PR #3727",
    "layout",
)
RULES = (OFFLOAD, GATHER, REUSE, ZEROES, STALE)
OVERLAP = "overlap_param_gather"
OPTION = "--overlap-param-gather or --no-overlap-param-gather"
FSDP = ("use_megatron_fsdp", "use_torch_fsdp2", "use_custom_fsdp")


def gather(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Quantized parameters are gathered by the distributed optimizer or by FSDP."""
    name = "fp8_param_gather" if config.fp8 else "fp4_param_gather"
    wanted = config.fp8_param_gather if config.fp8 else config.fp4 and config.fp4_param_gather
    distributed = situation.value("use_distributed_optimizer")
    if not wanted or distributed or any(situation.value(kind) for kind in FSDP):
        return
    if distributed is UNKNOWN:
        message = f"{name} needs the distributed optimizer or FSDP; whether one is on is unknown."
        remedy = "Type --use-distributed-optimizer, or give the DDP config too."
        yield GATHER.unknown(message, remedy)
        return
    message = f"{name} needs the distributed optimizer or FSDP, and neither is on."
    remedy = f"Set use_distributed_optimizer=True or {name}=false."
    yield GATHER.error(message, remedy)


def offload(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Optimizer CPU offload gathers FP8 parameters only under delayed scaling."""
    if not (config.fp8 and config.fp8_param_gather) or config.fp8_recipe == "delayed":
        return
    if situation.value("optimizer_cpu_offload"):
        what = f"optimizer_cpu_offload with fp8_param_gather under {config.fp8_recipe} scaling"
        message = f"{what}: Megatron-Core supports this pair with delayed scaling only."
        remedy = "Set fp8_param_gather=false or optimizer_cpu_offload=False."
        yield OFFLOAD.error(message, remedy)


def reuse(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """The gradient buffer cannot hold parameters while the optimizer step gathers them."""
    overlap = situation.value("overlap_param_gather_with_optimizer_step")
    if config.fp8 and config.reuse_grad_buf_for_mxfp8_param_ag and overlap:
        message = "reuse_grad_buf_for_mxfp8_param_ag with overlap_param_gather_with_optimizer_step."
        yield REUSE.error(message, "Set overlap_param_gather_with_optimizer_step=False.")


def overlap(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """MXFP8 parameters in the gradient buffer survive each way of syncing them."""
    overlapped, experts = situation.value(OVERLAP), situation.value("num_moe_experts")
    if not (config.fp8 and config.fp8_param_gather and config.reuse_grad_buf_for_mxfp8_param_ag):
        return
    if overlapped in (True, UNKNOWN):
        yield from _mended(STALE, "0.19", "warning", situation)
    if experts and overlapped in (False, UNKNOWN):
        yield from _mended(ZEROES, "0.18", "error", situation)


def _mended(rule: Rule, release: str, say: Severity, situation: Situation) -> Iterator[Finding]:
    """Yield a finding where Megatron-Core is older than the release that mended the sync."""
    found, overlapped = situation.value("megatron_core"), situation.value(OVERLAP)
    if found is None or (found is not UNKNOWN and at_least(found, release)):
        return
    what = f"MXFP8 parameters in the gradient buffer with {OVERLAP}={rule is STALE}"
    facts = {"megatron-core": (found, "--mcore"), OVERLAP: (overlapped, OPTION)}
    missing = {name: option for name, (value, option) in facts.items() if value is UNKNOWN}
    if missing:
        message = (
            f"{what} are right from megatron-core {release} on; {' and '.join(missing)} unknown."
        )
        yield rule.unknown(message, f"Type {' and '.join(missing.values())}.")
        return
    message = f"{what} under megatron-core {found}: {rule.follows[0].lower()}{rule.follows[1:]}"
    remedy = f"Use megatron-core {release} or later, or type fp8_param_gather=false."
    yield getattr(rule, say)(message, remedy)


CHECKS = (gather, offload, reuse, overlap)
