"""Rules on a config with subchannel (blockwise) scaling, and where it runs."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Finding, MixedPrecisionConfig, Rule, Situation, hookimpl
from mp_core.alignment import token_misalignment
from mp_core.checking import unused_knobs
from mp_core.requirements import Place, Requirements
from mp_plugin_transformer_engine.fp8 import (
    CURRENT,
    DELAYED_KNOBS,
    NOT_ON_GAUDI,
    check_shapes,
    in_base,
    shape_rules,
)
from mp_plugin_transformer_engine.switches import Switch, described, switched, variable_rule

WHAT = "FP8 with subchannel scaling"
ATTENTION = Rule(
    "SC101",
    "FP8 attention has no blockwise form.",
    "Transformer Engine disables it, so attention stays in 16 bits.",
    "TransformerEngine pytorch/attention/dot_product_attention/utils.py",
)
DEAD = Rule(
    "SC102",
    "megatron-core passes Float8BlockScaling its format only.",
    "The setting changes nothing.",
    "megatron-core fp8_utils.py",
)
CHECK = "TransformerEngine pytorch/quantization.py, check_fp8_block_scaling_support"
OLD = "it needs compute capability 9.0 or higher."
EMULATED = "it is emulated with MXFP8 and power-of-two scales, so numbers differ from Hopper's."
HOPPER = Place("cuda:sm90..sm99", CHECK, "12.9", "12.9", transformer_engine="2.3")
BLACKWELL = HOPPER._replace(
    device="cuda:sm100..sm119",
    source="TransformerEngine PR #2157; verl#6172",
    transformer_engine="2.9",
    but=EMULATED,
)
PLACES = (
    Place("cuda:..sm88", CHECK, no=OLD, remedy="Use bf16_mixed there."),
    Place("cuda:sm89", CHECK, no=OLD, remedy=CURRENT),
    HOPPER,
    BLACKWELL,
    BLACKWELL._replace(device="cuda:sm120..", source="TransformerEngine PR #2157, #2668"),
    Place(
        "rocm:*",
        "ROCm/TransformerEngine pytorch/quantization.py",
        no="ROCm's Transformer Engine says that it is not yet supported.",
        remedy=CURRENT,
    ),
    NOT_ON_GAUDI,
)
REQUIREMENTS = Requirements(WHAT, "SC", PLACES, CHECK)
SHAPES = shape_rules("SC", WHAT, "TransformerEngine common/gemm/cublaslt_gemm.cu")
GATHERED = Rule(
    "SC303",
    "Activations are gathered between ranks in FP8 only in whole blocks of 128 values and tokens.",
    "They are gathered in 16 bits, which moves twice the bytes.",
    "TransformerEngine pytorch/tensor/float8_blockwise_tensor.py is_quantizable; distributed.py",
    "shape",
)
BLOCK = 128
SWITCHES = (Switch("NVTE_FP8_BLOCK_SCALING_FP32_SCALES", "scales are any FP32 number", "2.3"),)
SWITCHED = variable_rule("SC", WHAT)
#: The GEMM's own; blocks of 128 matter to gathering quantized tensors.
MULTIPLE = 16


@hookimpl
def mp_rules() -> tuple[Rule, ...]:
    """Return this plugin's rules."""
    return (ATTENTION, DEAD, GATHERED, SWITCHED, *REQUIREMENTS.rules(), *SHAPES)


@hookimpl
def mp_variables() -> dict[str, str]:
    """Return the variables that change subchannel scaling."""
    return described(SWITCHES)


@hookimpl
def mp_check(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Yield what stands against subchannel scaling, where it is on."""
    if not config.fp8 or config.fp8_recipe != "blockwise":
        return
    if config.fp8_dot_product_attention:
        message = (
            "fp8_dot_product_attention=True under fp8_recipe='blockwise': Transformer Engine "
            "disables FP8 attention with this recipe, so attention stays in 16 bits."
        )
        yield ATTENTION.warning(message, "Type fp8_dot_product_attention=false.")
    why = "under fp8_recipe='blockwise', only under 'delayed'"
    yield from unused_knobs(config, DELAYED_KNOBS, DEAD, why)
    yield from in_base(config, REQUIREMENTS.check(situation))
    yield from switched(situation, SWITCHES, SWITCHED)
    yield from check_shapes(situation, MULTIPLE, SHAPES, WHAT)
    yield from _gathered(situation)


def _gathered(situation: Situation) -> Iterator[Finding]:
    """Yield a note on the sequence-parallel activations that leave no whole blocks."""
    hidden, ranks = situation.value("hidden_size"), situation.value("tensor_model_parallel_size")
    if not (situation.value("sequence_parallel") and ranks) or ranks == 1:
        return
    if hidden and hidden % BLOCK:
        message = f"hidden_size {hidden} is no multiple of {BLOCK}: activations move in 16 bits."
        yield GATHERED.note(message, f"Use hidden_size={-(-hidden // BLOCK) * BLOCK}.")
    yield from token_misalignment(situation, BLOCK, GATHERED, f"{WHAT}, gathered in FP8,", "note")
