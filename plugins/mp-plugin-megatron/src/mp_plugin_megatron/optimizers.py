"""Rules on the optimizer and on the dtypes of what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mp_core import UNKNOWN, Finding, Rule
from mp_plugin_megatron.situations import needs_engine

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig, Situation

GRADIENTS = Rule(
    "MG102",
    "The gradient buffer and the optimizer's main gradients are one thing when they agree.",
    "Both are kept, which costs memory and rounds gradients once more.",
    "verl PR #7485",
    "layout",
)
STATE = Rule(
    "MG113",
    "Only the precision-aware optimizer, Adam with a sharded state, holds 16- and 8-bit state.",
    "OptimizerConfig refuses the rest.",
    "megatron-core optimizer/optimizer_config.py, 0.12 to 0.19",
    "layout",
)
ENGINE = Rule(
    "MG206",
    "The precision-aware optimizer is FusedAdam of Transformer Engine.",
    "OptimizerConfig refuses to be made where FusedAdam lacks the dtypes.",
    "megatron-core optimizer/optimizer_config.py; TransformerEngine optimizers/fused_adam.py",
    "machine",
)
UNFUSED = Rule(
    "MG114",
    "With FP8 other than delayed and FP32 main parameters, Megatron keeps these itself.",
    "FusedAdam does not hold them as remainders, so they take 4 bytes, not 2.",
    "megatron-core optimizer/optimizer_config.py, use_precision_aware_optimizer_no_fp8_or_ds_fp8",
    "layout",
)
RULES = (GRADIENTS, STATE, ENGINE, UNFUSED)
AWARE = "use_precision_aware_optimizer"
STATE_DTYPES = ("exp_avg_dtype", "exp_avg_sq_dtype", "main_grads_dtype", "main_params_dtype")
FP32 = "torch.float32"


def gradient_dtypes(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """The gradient buffer and the optimizer's main gradients agree."""
    reduced, main = situation.value("grad_reduce_in_fp32"), situation.value("main_grads_dtype")
    if UNKNOWN in (reduced, main) or not config.bf16:
        return
    main_is_fp32 = str(main) == "torch.float32"
    if bool(reduced) != main_is_fp32:
        message = f"grad_reduce_in_fp32={reduced} while the optimizer's main_grads_dtype is {main}."
        remedy = f"Set grad_reduce_in_fp32={str(main_is_fp32).lower()} or change main_grads_dtype."
        yield GRADIENTS.warning(message, remedy)


def state(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Optimizer state below FP32 is held by an optimizer that can."""
    aware = situation.value(AWARE)
    if aware is False:
        for name in STATE_DTYPES:
            if str(dtype := situation.value(name)) not in (str(UNKNOWN), FP32):
                message = f"{name}={dtype} without {AWARE}."
                yield STATE.error(message, f"Set {AWARE}=True or {name}={FP32}.")
    elif aware:
        if situation.value("optimizer") not in (UNKNOWN, "adam"):
            message = f"{AWARE}=True with optimizer={situation.value('optimizer')!r}."
            yield STATE.error(message, "Set optimizer='adam'.")
        if situation.value("use_distributed_optimizer") is False:
            message = f"{AWARE}=True with use_distributed_optimizer=False."
            yield STATE.error(message, "Set use_distributed_optimizer=True.")


def fused_adam(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """The precision-aware optimizer is there, and holds the main parameters."""
    offloaded = situation.value("optimizer_cpu_offload")
    if not situation.value(AWARE) or offloaded:
        return
    yield from needs_engine(ENGINE, f"{AWARE}=True", "1.13", situation)
    main = str(situation.value("main_params_dtype"))
    if config.fp8 and config.fp8_recipe != "delayed" and offloaded is False and main == FP32:
        message = f"{AWARE}=True with fp8_recipe={config.fp8_recipe!r}: FP32 main parameters."
        yield UNFUSED.note(message, "Count 4 bytes for each, shared by the ranks.")


CHECKS = (gradient_dtypes, state, fused_adam)
