"""Combinations of a recipe with Megatron-Core's other settings that are known to go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from mp_core import UNKNOWN, Finding

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig, Situation

Check = Callable[["MixedPrecisionConfig", "Situation"], Iterator[Finding]]
FSDP = ("use_megatron_fsdp", "use_torch_fsdp2", "use_custom_fsdp")


def low_precision(config: MixedPrecisionConfig) -> str | None:
    """Return ``fp8`` or ``fp4``, whichever is on, or None."""
    return "fp8" if config.fp8 else "fp4" if config.fp4 else None


def base_mode(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """FP8 and FP4 run over a 16-bit base."""
    family = low_precision(config)
    if family and not (config.bf16 or config.fp16):
        message = f"{family} is on while bf16 and fp16 are off: everything else runs in FP32."
        remedy = "Set bf16=true."
        yield Finding("MG101", "warning", message, remedy, "Megatron-LM#883, Megatron-LM#860")


def gradient_dtypes(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """The gradient buffer and the optimizer's main gradients agree."""
    reduced, main = situation.value("grad_reduce_in_fp32"), situation.value("main_grads_dtype")
    if UNKNOWN in (reduced, main) or not config.bf16:
        return
    main_is_fp32 = str(main) == "torch.float32"
    if bool(reduced) != main_is_fp32:
        message = f"grad_reduce_in_fp32={reduced} while the optimizer's main_grads_dtype is {main}."
        remedy = f"Set grad_reduce_in_fp32={str(main_is_fp32).lower()} or change main_grads_dtype."
        yield Finding("MG102", "warning", message, remedy, "verl PR #7485")


def offload(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Optimizer CPU offload gathers FP8 parameters only under delayed scaling."""
    if not (config.fp8 and config.fp8_param_gather) or config.fp8_recipe == "delayed":
        return
    if situation.value("optimizer_cpu_offload"):
        what = f"optimizer_cpu_offload with fp8_param_gather under {config.fp8_recipe} scaling"
        message = f"{what}: Megatron-Core supports this pair with delayed scaling only."
        remedy = "Set fp8_param_gather=false or optimizer_cpu_offload=False."
        yield Finding("MG103", "error", message, remedy, "Megatron-LM PR #2788")


def gather(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Quantized parameters are gathered by the distributed optimizer or by FSDP."""
    name = "fp8_param_gather" if config.fp8 else "fp4_param_gather"
    wanted = config.fp8_param_gather if config.fp8 else config.fp4 and config.fp4_param_gather
    distributed = situation.value("use_distributed_optimizer")
    if not wanted or distributed or any(situation.value(kind) for kind in FSDP):
        return
    if distributed is UNKNOWN:
        message = f"{name} needs the distributed optimizer or FSDP; whether one is on is unknown."
        remedy = "Give the DDP config too."
        yield Finding("MG104", "unknown", message, remedy, "Megatron-LM arguments.py")
        return
    message = f"{name} needs the distributed optimizer or FSDP, and neither is on."
    remedy = f"Set use_distributed_optimizer=True or {name}=false."
    yield Finding("MG104", "error", message, remedy, "Megatron-LM arguments.py")


def recompute(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """What is recomputed in the backward pass is quantized once more."""
    family, modules = low_precision(config), situation.value("recompute_modules") or ()
    if not family or not situation.value("recompute_granularity"):
        return
    if "mlp" in modules and situation.value("num_moe_experts"):
        message = f"recompute_modules has 'mlp' with {family} and experts: dense layers fail in it."
        remedy = "Take 'mlp' out of recompute_modules."
        yield Finding("MG105", "warning", message, remedy, "Megatron-Bridge commit 034fdb1b9")
    message = f"recompute with {family}: activations may be recomputed in the 16-bit base instead."
    remedy = "Measure memory and loss once without recompute."
    yield Finding("MG106", "note", message, remedy, "Megatron-LM#1236, Megatron-LM#1210")


def loss_scaler(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """FP16 needs a static or a dynamic loss scale."""
    scales = [situation.value(name) for name in ("loss_scale", "initial_loss_scale")]
    if config.fp16 and scales == [None, None]:
        message = "fp16 with loss_scale=None and initial_loss_scale=None: gradients underflow."
        remedy = "Set initial_loss_scale=4294967296."
        yield Finding("MG107", "error", message, remedy, "Megatron-Bridge PR #371")


CHECKS: tuple[Check, ...] = (base_mode, gather, gradient_dtypes, loss_scaler, offload, recompute)


def check(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Yield the findings of every check."""
    for each in CHECKS:
        yield from each(config, situation)
