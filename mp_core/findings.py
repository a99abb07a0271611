"""What a check says: a code, how bad, what is wrong, what to type, and where it is written."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "unknown", "note"]
About = Literal["values", "machine", "shape", "layout", "checkpoint"]


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


class Rule(NamedTuple):
    """What a check looks for, under the code by which it is known and explained.

    why: the reason for the rule. follows: what happens where it is not kept. source: what a
    reader can open. about: what it needs to know; the matrix shows those about the machine.
    """

    code: str
    why: str
    follows: str
    source: str
    about: About = "values"

    def error(self, message: str, remedy: str, source: str = "") -> Finding:
        """Return the finding that the run fails, or trains in another precision."""
        return Finding(self.code, "error", message, remedy, source or self.source)

    def warning(self, message: str, remedy: str, source: str = "") -> Finding:
        """Return the finding that the run works otherwise than one may think."""
        return Finding(self.code, "warning", message, remedy, source or self.source)

    def unknown(self, message: str, remedy: str, source: str = "") -> Finding:
        """Return the finding that a fact is missing."""
        return Finding(self.code, "unknown", message, remedy, source or self.source)

    def note(self, message: str, remedy: str, source: str = "") -> Finding:
        """Return the finding that something is worth knowing."""
        return Finding(self.code, "note", message, remedy, source or self.source)


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
