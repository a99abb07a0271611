"""What the rules of this plugin ask of a config and of a situation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mp_core import UNKNOWN
from mp_core.releases import at_least

if TYPE_CHECKING:
    from mp_core import Finding, MixedPrecisionConfig, Rule, Situation


def low_precision(config: MixedPrecisionConfig) -> str | None:
    """Return ``fp8`` or ``fp4``, whichever is on, or None."""
    return "fp8" if config.fp8 else "fp4" if config.fp4 else None


def needs_engine(rule: Rule, what: str, floor: str, situation: Situation) -> Iterator[Finding]:
    """Yield a finding where Transformer Engine is older than *floor*, or is not known."""
    found = situation.value("transformer_engine")
    need = f"{what} needs Transformer Engine {floor} or later"
    if found is UNKNOWN:
        yield rule.unknown(f"{need}; which is there is not known.", "Type --te.")
    elif found is None or at_least(found, floor) is False:
        here = "it is not installed" if found is None else f"here is {found}"
        yield rule.error(f"{need}; {here}.", f"Use Transformer Engine {floor} or later.")
