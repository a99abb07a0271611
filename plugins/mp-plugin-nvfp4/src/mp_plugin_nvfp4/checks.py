"""Rules on the values of a config with NVFP4 and of its targets."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import UNKNOWN, Finding, MixedPrecisionConfig, Situation, hookimpl
from mp_core.checking import any_true

#: Megatron-FSDP's switch, and the name it had before megatron-core 0.14.
FSDP = ("use_custom_fsdp", "use_megatron_fsdp")


@hookimpl
def mp_check(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Yield NV101 for an FP4 gather under Megatron-FSDP, NV102 for no last layers in BF16."""
    if not config.fp4 or config.fp4_recipe != "nvfp4":
        return
    if config.fp4_param_gather:
        yield from _gather_with_fsdp(situation)
    if not (config.first_last_layers_bf16 and config.num_layers_at_end_in_bf16):
        message = "0 layers at the end stay in BF16; a Llama 3 8B run needed 4 to converge."
        remedy = "Type first_last_layers_bf16=true,num_layers_at_end_in_bf16=4."
        yield Finding("NV102", "note", message, remedy, "Megatron-Bridge PR #1347")


def _gather_with_fsdp(situation: Situation) -> Iterator[Finding]:
    sharded = any_true(situation, *FSDP)
    remedy, source = "Type fp4_param_gather=false.", "Megatron-LM#6928; Megatron-Bridge#1794"
    message = "fp4_param_gather=True needs NVFP4 storage, which Megatron-FSDP does not have"
    if sharded is True:
        yield Finding("NV101", "error", f"{message}, and it is on.", remedy, source)
    elif sharded is UNKNOWN:
        message += f"; whether it is used is not known ({', '.join(FSDP)})."
        yield Finding("NV101", "unknown", message, f"With Megatron-FSDP: {remedy}", source)
