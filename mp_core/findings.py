"""What a check says: a code, how bad, what is wrong, what to type, and where it is written."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

Severity = Literal["error", "warning", "unknown", "note"]


@dataclass(frozen=True, order=True)
class Finding:
    """One answer of a check.

    code: stable and documented, such as ``MX101``. message: one sentence with the numbers in it.
    remedy: what to type. source: project, file or issue number, version that a reader can open.
    """

    code: str
    severity: Severity
    message: str
    remedy: str
    source: str

    def __str__(self) -> str:
        return f"{self.code} {self.severity}: {self.message} {self.remedy} [{self.source}]"

    def to_dict(self) -> dict[str, str]:
        """Return the five fields as strings."""
        return asdict(self)


@dataclass(frozen=True)
class Advice:
    """A sentence or two that a person should read before training with a recipe.

    fields: the config fields it explains. source: what a reader can open.
    """

    text: str
    source: str
    fields: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return text, source and fields."""
        return asdict(self)
