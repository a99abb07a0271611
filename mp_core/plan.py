"""A plan: what a recipe changes, what stays, what lands nowhere; carried out whole or not."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mp_core.changes import Change
from mp_core.errors import StalePlan
from mp_core.findings import Finding
from mp_core.ledger import Record, differs, recall, remember

if TYPE_CHECKING:
    from mp_core.config import MixedPrecisionConfig

logger = logging.getLogger("mp_core")


@dataclass(frozen=True)
class Conflict:
    """A field that the user set and the recipe wants otherwise, with how to keep the user's."""

    change: Change
    remedy: str


@dataclass(frozen=True)
class Note:
    """Something a reader of the plan should know; *loud* notes are logged as warnings."""

    text: str
    loud: bool = False


@dataclass(frozen=True)
class Plan:
    """What make_plan found; ``apply()`` carries it out.

    changes: fields whose value will differ. stays: fields that hold the recipe's value already.
    kept: the user's values that stay under ``on_conflict="keep"``. conflicts: the user's values
    that the recipe overwrites. notes and findings: what else to know.
    """

    config: MixedPrecisionConfig
    targets: dict[str, object]
    changes: tuple[Change, ...]
    stays: tuple[Change, ...]
    kept: tuple[Change, ...]
    conflicts: tuple[Conflict, ...]
    notes: tuple[Note, ...]
    findings: tuple[Finding, ...]
    records: tuple[tuple[object, Record], ...] = field(repr=False)
    _before: list[Record] = field(default_factory=list, repr=False)

    @property
    def recipe(self) -> str:
        """The recipe's name, or the config's class where it has none."""
        return self.config.recipe or type(self.config).__name__

    def label(self, change: Change) -> str:
        """Return the name of the target that *change* is about, such as ``ddp[1]``."""
        return next(k for k, target in self.targets.items() if target is change.target)

    def apply(self) -> None:
        """Carry out every change, or none; raise StalePlan when a target changed since."""
        stale = [c for c in (*self.changes, *self.stays) if _stale(c)]
        if stale:
            raise StalePlan(f"{self._names(stale)} changed since the plan was made: plan again")
        _write([(c.target, c.field, c.new) for c in self.changes])
        self._before[:] = [recall(target) for target, _ in self.records]
        for target, record in self.records:
            remember(target, record)

    def undo(self) -> None:
        """Put back what apply() changed; raise StalePlan when anything changed it since."""
        if not self._before and self.records:
            raise StalePlan("the plan was not applied: nothing to undo")
        if any(recall(target) is not record for target, record in self.records):
            raise StalePlan("another plan was applied to these configs since: undo that one first")
        stale = self.drift()
        if stale:
            raise StalePlan(f"{self._names(stale)} changed since the plan was applied")
        _write([(c.target, c.field, c.old) for c in self.changes])
        for (target, _), record in zip(self.records, self._before, strict=True):
            remember(target, record)
        self._before.clear()

    def drift(self) -> list[Change]:
        """Return the changes whose target does not hold the new value now."""
        return [c for c in self.changes if differs(getattr(c.target, c.field, None), c.new)]

    def report(self) -> None:
        """Log a warning for each overwritten value, loud note, and finding that is one or worse.

        Findings are told in rank 0 only; those that lack a fact, and notes, at level INFO.
        """
        for conflict in self.conflicts:
            change = conflict.change
            was = f"{self.label(change)}.{change.field}={show(change.old)} was set before"
            logger.warning(
                "%s: %s and becomes %s. %s", self.recipe, was, show(change.new), conflict.remedy
            )
        for note in self.notes:
            logger.log(
                logging.WARNING if note.loud else logging.INFO, "%s: %s", self.recipe, note.text
            )
        report_findings(self.recipe, self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data, sorted as it is printed."""
        return {
            "recipe": self.recipe,
            "changes": [self._row(change) for change in self.changes],
            "stays": [self._row(change) for change in self.stays],
            "kept": [self._row(change) for change in self.kept],
            "conflicts": [{**self._row(c.change), "remedy": c.remedy} for c in self.conflicts],
            "notes": [note.text for note in self.notes],
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def _row(self, change: Change) -> dict[str, Any]:
        return {
            "target": self.label(change),
            "field": change.field,
            "old": plain(change.old),
            "new": plain(change.new),
            "origin": change.origin.kind,
            "base": change.origin.name,
            "reason": change.reason,
        }

    def _names(self, changes: Iterable[Change]) -> str:
        return ", ".join(f"{self.label(change)}.{change.field}" for change in changes)

    def to_text(self, width: int = 80) -> str:
        """Return the plan as tables of *width* columns, without colour."""
        from mp_core.render import plan_text

        return plan_text(self, width)

    def __str__(self) -> str:
        return self.to_text()


def is_first_rank() -> bool:
    """Return whether this process is rank 0 of its job, or has no rank."""
    return os.environ.get("RANK", "0") == "0"


def report_findings(recipe: str, findings: Iterable[Finding]) -> None:
    """Log a line for each finding on *recipe*, where this process is rank 0 or has no rank."""
    if not is_first_rank():
        return
    for finding in findings:
        level = logging.WARNING if finding.severity in ("error", "warning") else logging.INFO
        logger.log(level, "%s: %s", recipe, finding)


def _stale(change: Change) -> bool:
    missing = object()
    now = getattr(change.target, change.field, missing)
    return now is not missing and differs(now, change.old)


def _write(values: list[tuple[object, str, Any]]) -> None:
    """Set every value; where one cannot be set, put back those before it and raise."""
    done: list[tuple[object, str, Any]] = []
    try:
        for target, name, value in values:
            old = getattr(target, name, None)
            setattr(target, name, value)
            done.append((target, name, old))
    except BaseException:
        for target, name, old in reversed(done):
            setattr(target, name, old)
        raise


def plain(value: Any) -> Any:
    """Return *value* as JSON can hold it: a dtype by name, anything unusual by repr."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value).removeprefix("torch.") if type(value).__name__ == "dtype" else repr(value)


def show(value: Any) -> str:
    """Return *value* as a person reads it."""
    return str(plain(value))
