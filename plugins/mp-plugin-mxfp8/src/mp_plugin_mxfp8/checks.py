"""Rules on a config with MXFP8 and on its targets."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import UNKNOWN, Finding, MixedPrecisionConfig, Rule, Situation, hookimpl
from mp_core.checking import any_true, unused_knobs
from mp_plugin_mxfp8.places import ATTENTION, MULTIPLE, REQUIREMENTS, ROCM_MULTIPLE, SHAPES, WHAT
from mp_plugin_transformer_engine.attention import OFF, SOURCE, attention_rules, check_attention
from mp_plugin_transformer_engine.fp8 import DELAYED_KNOBS, check_shapes, in_base

HYBRID = Rule(
    "MX101",
    "fp8='hybrid' takes gradients in E5M2, whose 2 bits of significand are too few here.",
    "Training diverged, or ended with a lower score.",
    "Megatron-Bridge PR #638",
)
NO_REUSE = Rule(
    "MX102",
    "Megatron's own DDP gathers MXFP8 parameters in the gradient buffer and in nothing else.",
    "Megatron-Bridge refuses the pair; under FSDP it is right.",
    "Megatron-Bridge PR #450, PR #3796",
)
DEAD = Rule(
    "MX103",
    "megatron-core passes MXFP8BlockScaling its format and its attention flag only.",
    "The setting changes nothing.",
    "megatron-core fp8_utils.py",
)
CUDNN = Rule(
    "MX407",
    "Two releases of cuDNN are refused for attention in MXFP8.",
    "No backend is left, and the first forward pass fails.",
    SOURCE,
    "machine",
)
REFUSED = ("9.23.0", "9.23.1")
#: Each of these gathers parameters in its own buffers; Megatron's own DDP needs the reuse.
FSDP = ("use_custom_fsdp", "use_megatron_fsdp", "use_torch_fsdp2")
REUSE = "reuse_grad_buf_for_mxfp8_param_ag"


@hookimpl
def mp_rules() -> tuple[Rule, ...]:
    """Return this plugin's rules."""
    own = (HYBRID, NO_REUSE, DEAD, CUDNN)
    return (*own, *REQUIREMENTS.rules(), *attention_rules(ATTENTION), *SHAPES)


@hookimpl
def mp_variables() -> dict[str, str]:
    """Return the variables that change MXFP8."""
    return {"NVTE_ROCM_ENABLE_MXFP8": "1 turns MXFP8 on in ROCm's Transformer Engine"}


@hookimpl
def mp_check(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Yield what stands against MXFP8, where it is on."""
    if not config.fp8 or config.fp8_recipe != "mxfp8":
        return
    if config.fp8 == "hybrid":
        message = "fp8='hybrid' takes gradients in E5M2; MXFP8 training diverged with it."
        yield HYBRID.warning(message, "Type fp8=e4m3.")
    if config.fp8_param_gather and not config.reuse_grad_buf_for_mxfp8_param_ag:
        yield from _gather_without_reuse(situation)
    why = "under fp8_recipe='mxfp8', only under 'delayed'"
    yield from unused_knobs(config, DELAYED_KNOBS, DEAD, why)
    yield from in_base(config, REQUIREMENTS.check(situation))
    yield from check_attention(config, situation, ATTENTION)
    yield from _cudnn(config, situation)
    rocm = str(situation.value("device")).startswith("rocm:")
    yield from check_shapes(situation, ROCM_MULTIPLE if rocm else MULTIPLE, SHAPES, WHAT)


def _gather_without_reuse(situation: Situation) -> Iterator[Finding]:
    sharded = any_true(situation, *FSDP)
    if sharded is True:
        return
    message = f"fp8_param_gather=True with {REUSE}=False is for FSDP only"
    remedy = f"Type {REUSE}=true, or fp8_param_gather=false."
    if sharded is UNKNOWN:
        message += f", and none of {', '.join(FSDP)} is known."
        yield NO_REUSE.unknown(message, remedy)
    else:
        yield NO_REUSE.error(f"{message}, which is off.", remedy)


def _cudnn(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    found = str(situation.value("cudnn"))
    if config.fp8_dot_product_attention and found in REFUSED:
        message = f"Transformer Engine 2.19 and later refuses cuDNN {found} for MXFP8 attention."
        yield CUDNN.error(message, f"Use another cuDNN from 9.21 on. Or: {OFF}")
