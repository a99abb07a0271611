"""What the FP8 families share: where FP8 GEMMs with one scale a tensor run, and their shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from mp_core import Finding, MixedPrecisionConfig, Rule, Situation
from mp_core.alignment import misaligned, token_misalignment
from mp_core.requirements import Place

CHECK = "TransformerEngine pytorch/quantization.py, check_fp8_support"
INSTALL = "TransformerEngine docs/installation.rst"
ROCM = "ROCm/TransformerEngine pytorch/quantization.py"
CURRENT = "Type bf16_with_fp8_current_scaling_mixed."
#: Intel's own Transformer Engine has one recipe.
NOT_ON_GAUDI = Place(
    "gaudi:*",
    "Intel Gaudi habana_frameworks, README",
    no="Gaudi's Transformer Engine has delayed scaling only.",
    remedy="Type bf16_with_fp8_delayed_scaling_mixed.",
)
#: megatron-core passes these to DelayedScaling only.
DELAYED_KNOBS = (
    "fp8_amax_compute_algo",
    "fp8_amax_history_len",
    "fp8_margin",
    "fp8_multi_head_attention",
    "fp8_wgrad",
)


def not_before_blackwell(source: str) -> tuple[Place, ...]:
    """Return the older devices, of which some have FP8 and none has blocks of 16 or 32."""
    no = "it needs compute capability 10.0 or higher."
    return (
        Place("cuda:..sm88", source, no=no, remedy="Use bf16_mixed there."),
        Place("cuda:sm89..sm99", source, no=no, remedy=CURRENT),
    )


def tensor_scaling(release: str) -> tuple[Place, ...]:
    """Return where FP8 with one scale a tensor runs.

    release: the first Transformer Engine that has the recipe's class.
    """
    no_fp8 = "FP8 GEMMs need compute capability 8.9 or higher."
    return (
        Place("cuda:..sm88", CHECK, no=no_fp8, remedy="Use bf16_mixed there."),
        Place("cuda:sm89", CHECK, "12.1", "12.1.3", transformer_engine=release),
        Place("cuda:sm90..sm99", INSTALL, cuda="12.1", transformer_engine=release),
        Place("cuda:sm100..", INSTALL, cuda="12.8", transformer_engine=release),
        Place(
            "rocm:gfx942",
            ROCM,
            transformer_engine=release,
            but="FP8 is e4m3fnuz here, with a maximum of 240: scales and checkpoints are its own.",
            severity="note",
        ),
        Place("rocm:gfx950", ROCM, transformer_engine=release),
    )


def shape_rules(prefix: str, what: str, source: str) -> tuple[Rule, Rule]:
    """Return the rules on the sizes of GEMMs and on their tokens, for *what*."""
    follows = "The first forward or backward pass fails, or the operand stays in 16 bits."
    why = f"The blocks and kernels of {what} take sizes of a fixed multiple only."
    return (
        Rule(f"{prefix}301", why, follows, source, "shape"),
        Rule(f"{prefix}302", why.replace("sizes", "token counts"), follows, source, "shape"),
    )


def check_shapes(
    situation: Situation, multiple: int, rules: tuple[Rule, Rule], what: str
) -> Iterator[Finding]:
    """Yield findings on sizes and tokens that are no multiple of *multiple*."""
    yield from misaligned(situation, multiple, rules[0], what)
    yield from token_misalignment(situation, multiple, rules[1], what)


def in_base(config: MixedPrecisionConfig, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; under FP16 their remedies name recipes over FP16."""
    for each in findings:
        yield replace(each, remedy=each.remedy.replace("bf16_", "fp16_")) if config.fp16 else each
