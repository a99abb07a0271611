"""Where Acme's FP8 runs, and what its matrix units do not take."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core import Finding, MixedPrecisionConfig, Rule, Situation, hookimpl
from mp_core.requirements import Place, Requirements

MANUAL = "Acme SDK manual 2.1, FP8"
FORMAT = Rule(
    "AC101",
    "Acme's matrix units take FP8 as E4M3 only.",
    "The first forward pass fails.",
    MANUAL,
)
PLACES = (
    Place("acme:npu1", MANUAL, no="its matrix units take 16 bits.", remedy="Use bf16_mixed there."),
    Place("acme:npu2", MANUAL, variables=("ACME_FP8=1",)),
)
#: Where the 16-bit recipe of another plugin runs too, by the code of its rule on devices.
OTHERS = {"HF201": (Place("acme:npu1", MANUAL), Place("acme:npu2", MANUAL))}
REQUIREMENTS = Requirements("Acme's FP8", "AC", PLACES, MANUAL)


def is_acme(config: MixedPrecisionConfig) -> bool:
    """Return whether *config* computes in Acme's FP8."""
    return bool(config.fp8) and config.fp8_recipe == "acme"


@hookimpl
def mp_rules() -> tuple[Rule, ...]:
    """Return the rule of the format, and those of the rows."""
    return FORMAT, *REQUIREMENTS.rules()


@hookimpl
def mp_check(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Yield what stands against Acme's FP8, where it is on."""
    if not is_acme(config):
        return
    if config.fp8 != "e4m3":
        yield FORMAT.error(f"fp8={config.fp8!r}: Acme's matrix units take E4M3.", "Type fp8=e4m3.")
    yield from REQUIREMENTS.check(situation)
