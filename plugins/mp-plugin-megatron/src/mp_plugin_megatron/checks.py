"""Combinations of a recipe with Megatron-Core's other settings that are known to go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from mp_core import UNKNOWN, Finding
from mp_core.releases import at_least
from mp_plugin_megatron import rules
from mp_plugin_megatron.versions import ATTENTION, needed_version

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig, Situation

Check = Callable[["MixedPrecisionConfig", "Situation"], Iterator[Finding]]
PIPELINE = "pipeline_model_parallel_size"
LAYER_COUNTS = ("num_layers_at_start_in_bf16", "num_layers_at_end_in_bf16")
FSDP = ("use_megatron_fsdp", "use_torch_fsdp2", "use_custom_fsdp")


def low_precision(config: MixedPrecisionConfig) -> str | None:
    """Return ``fp8`` or ``fp4``, whichever is on, or None."""
    return "fp8" if config.fp8 else "fp4" if config.fp4 else None


def attention(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """FP8 attention reaches Transformer Engine."""
    recipe = config.fp8_recipe if config.fp8 else config.fp4_recipe if config.fp4 else ""
    floor, found = ATTENTION.get(recipe), situation.value("megatron_core")
    if not (config.fp8_dot_product_attention and floor) or found is None:
        return
    message = f"fp8_dot_product_attention under {recipe!r} takes effect from {floor} on"
    remedy = f"Use megatron-core {floor} or later, or type fp8_dot_product_attention=false."
    if found is UNKNOWN:
        yield rules.ATTENTION.unknown(f"{message}; megatron-core is not known.", "Type --mcore.")
    elif not at_least(found, floor):
        yield rules.ATTENTION.warning(f"{message}; megatron-core here is {found}.", remedy)


def base_mode(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """FP8 and FP4 run over a 16-bit base."""
    family = low_precision(config)
    if family and not (config.bf16 or config.fp16):
        message = f"{family} is on while bf16 and fp16 are off: everything else runs in FP32."
        remedy = "Set bf16=true."
        yield rules.BASE.warning(message, remedy)


def gradient_dtypes(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """The gradient buffer and the optimizer's main gradients agree."""
    reduced, main = situation.value("grad_reduce_in_fp32"), situation.value("main_grads_dtype")
    if UNKNOWN in (reduced, main) or not config.bf16:
        return
    main_is_fp32 = str(main) == "torch.float32"
    if bool(reduced) != main_is_fp32:
        message = f"grad_reduce_in_fp32={reduced} while the optimizer's main_grads_dtype is {main}."
        remedy = f"Set grad_reduce_in_fp32={str(main_is_fp32).lower()} or change main_grads_dtype."
        yield rules.GRADIENTS.warning(message, remedy)


def offload(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Optimizer CPU offload gathers FP8 parameters only under delayed scaling."""
    if not (config.fp8 and config.fp8_param_gather) or config.fp8_recipe == "delayed":
        return
    if situation.value("optimizer_cpu_offload"):
        what = f"optimizer_cpu_offload with fp8_param_gather under {config.fp8_recipe} scaling"
        message = f"{what}: Megatron-Core supports this pair with delayed scaling only."
        remedy = "Set fp8_param_gather=false or optimizer_cpu_offload=False."
        yield rules.OFFLOAD.error(message, remedy)


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
        yield rules.GATHER.unknown(message, remedy)
        return
    message = f"{name} needs the distributed optimizer or FSDP, and neither is on."
    remedy = f"Set use_distributed_optimizer=True or {name}=false."
    yield rules.GATHER.error(message, remedy)


def recompute(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """What is recomputed in the backward pass is quantized once more."""
    family, modules = low_precision(config), situation.value("recompute_modules") or ()
    if not family or not situation.value("recompute_granularity"):
        return
    if "mlp" in modules and situation.value("num_moe_experts"):
        message = f"recompute_modules has 'mlp' with {family} and experts: dense layers fail in it."
        remedy = "Take 'mlp' out of recompute_modules."
        yield rules.DENSE.warning(message, remedy)
    message = f"recompute with {family}: activations may be recomputed in the 16-bit base instead."
    remedy = "Measure memory and loss once without recompute."
    yield rules.RECOMPUTE.note(message, remedy)


def loss_scaler(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """FP16 needs a static or a dynamic loss scale."""
    scales = [situation.value(name) for name in ("loss_scale", "initial_loss_scale")]
    if config.fp16 and scales == [None, None]:
        message = "fp16 with loss_scale=None and initial_loss_scale=None: gradients underflow."
        remedy = "Set initial_loss_scale=4294967296."
        yield rules.SCALER.error(message, remedy)


def reuse(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """The gradient buffer cannot hold parameters while the optimizer step gathers them."""
    overlap = situation.value("overlap_param_gather_with_optimizer_step")
    if config.fp8 and config.reuse_grad_buf_for_mxfp8_param_ag and overlap:
        message = "reuse_grad_buf_for_mxfp8_param_ag with overlap_param_gather_with_optimizer_step."
        yield rules.REUSE.error(message, "Set overlap_param_gather_with_optimizer_step=False.")


def stages(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """First and last layers in BF16 fit into the first and the last pipeline stage."""
    if not (low_precision(config) and config.first_last_layers_bf16):
        return
    layers, parts = (situation.value(name) for name in ("num_layers", PIPELINE))
    counts = {name: getattr(config, name) for name in LAYER_COUNTS}
    missing = [n for n, v in (("num_layers", layers), (PIPELINE, parts)) if v is UNKNOWN]
    if layers is UNKNOWN or (parts is UNKNOWN and sum(counts.values()) < layers):
        message = f"BF16 layers against layers of a stage: {', '.join(missing)} unknown."
        yield rules.STAGES.unknown(message, "Type --num-layers and --pp.")
    elif sum(counts.values()) >= layers:
        family = low_precision(config)
        text = " and ".join(f"{name}={count}" for name, count in counts.items())
        message = f"{text} of num_layers {layers}: no layer computes in {family}."
        yield rules.STAGES.error(message, "Lower the counts, or use the base recipe.")
    elif config.fp8 and max(counts.values()) > layers // parts:
        name = max(counts, key=lambda each: counts[each])
        message = f"{name}={counts[name]} of the {layers // parts} layers of a pipeline stage."
        yield rules.STAGES.error(message, f"Use {name}={layers // parts} or fewer stages.")


def releases(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """The classes of the given Megatron-Core hold what the recipe needs."""
    needs = needed_version(config)
    found = situation.value("megatron_core")
    if not needs:
        return
    floor, field = needs
    if found is UNKNOWN:
        message = f"{field} needs megatron-core {floor} or later; which is there is not known."
        yield rules.RELEASE.unknown(message, "Type --mcore.")
    elif found is None or at_least(found, floor) is False:
        here = "it is not installed" if found is None else f"here is {found}"
        message = f"{field} needs megatron-core {floor} or later; {here}."
        yield rules.RELEASE.error(message, f"Use megatron-core {floor} or later.")
    elif at_least(found, floor) is None:
        message = f"{field} needs megatron-core {floor}; {found} is a pre-release of it."
        yield rules.RELEASE.unknown(message, f"Use megatron-core {floor}.")
    elif config.fp4 and config.fp4_param_gather and not at_least(found, "0.18"):
        message = f"fp4_param_gather with megatron-core {found}: its optimizer side came with 0.18."
        yield rules.FP4_GATHER.warning(message, "Use 0.18, or type fp4_param_gather=false.")


CHECKS: tuple[Check, ...] = (
    attention,
    base_mode,
    gather,
    gradient_dtypes,
    loss_scaler,
    offload,
    recompute,
    releases,
    reuse,
    stages,
)


def check(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Yield the findings of every check."""
    for each in CHECKS:
        yield from each(config, situation)
