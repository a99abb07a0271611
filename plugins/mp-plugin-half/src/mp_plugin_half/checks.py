"""Where the two 16-bit modes run without FP8 and FP4."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Finding, MixedPrecisionConfig, Rule, Situation, hookimpl
from mp_core.requirements import Place, Requirements

TABLE = "NVIDIA CUDA programming guide; ROCm precision support; Intel Gaudi documentation"
HERE = (
    Place("cuda:sm80..", TABLE),
    Place("rocm:gfx942", TABLE),
    Place("rocm:gfx950", TABLE),
)
LIMITED = Place(
    "gaudi:*", TABLE, but="FP16 training is supported in part.", remedy="Type bf16_mixed."
)
BF16 = Requirements("BF16", "HF", (*HERE, Place("gaudi:*", TABLE)), TABLE)
FP16 = Requirements("FP16", "HF", (*HERE, LIMITED), TABLE, start=211)


@hookimpl
def mp_rules() -> tuple[Rule, ...]:
    """Return this plugin's rules: of each mode the one about the device."""
    return BF16.rules()[0], FP16.rules()[0]


@hookimpl
def mp_check(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Yield what stands against a 16-bit mode, where nothing else says where it runs."""
    if config.fp8 or config.fp4 or not (config.bf16 or config.fp16):
        return
    yield from (BF16 if config.bf16 else FP16).check(situation)
