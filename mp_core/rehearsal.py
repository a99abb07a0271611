"""Try the changes on a copy, where the target's own validation can refuse in time."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from mp_core.changes import Change
from mp_core.errors import PrecisionRefused
from mp_core.ledger import clone, differs
from mp_core.plan import Note, show
from mp_core.plugins import hooks

if TYPE_CHECKING:
    from mp_core.config import MixedPrecisionConfig

T = TypeVar("T")


def rehearse(
    config: MixedPrecisionConfig, clean: T, changes: Iterable[Change]
) -> tuple[T, list[Note]]:
    """Return *clean* with *changes* and everything its class derives from them, and notes.

    Raises PrecisionRefused with the target's own message, unless the unchanged object has the
    same complaint.
    """
    final = clone(clean)
    for change in changes:
        setattr(final, change.field, change.new)
    try:
        said, unchecked = _validate(final)
    except Exception as refusal:
        complaint = _complaint(clean)
        if complaint != str(refusal):
            raise _refused(config, clean, refusal) from refusal
        text = f"{type(clean).__name__} has this complaint without the recipe too: {complaint}"
        return final, [Note(text, loud=True)]
    name = type(clean).__name__
    known = _warnings_before(clean) if said else []
    notes = [Note(f"not checked here: {text}") for text in unchecked]
    notes += [Note(f"{name} warns: {text}") for text in said if text not in known]
    return final, notes + _overruled(final, changes)


def _overruled(final: object, changes: Iterable[Change]) -> list[Note]:
    """Return a loud note for each value that the target's own validation replaced."""
    name = type(final).__name__
    lost = [c for c in changes if differs(getattr(final, c.field), c.new)]
    texts = [f"{c.field}={show(c.new)} into {show(getattr(final, c.field))}" for c in lost]
    return [Note(f"{name} itself turns {text}", loud=True) for text in texts]


def _validate(target: object) -> tuple[list[str], list[str]]:
    """Return what the validation of *target* warns of, and what it could not check."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        unchecked = hooks().mp_validate(target=target)
    said = [str(w.message) for w in caught if not issubclass(w.category, DeprecationWarning)]
    return said, unchecked


def _warnings_before(clean: object) -> list[str]:
    """Return what *clean* warns of without the recipe, nothing where the recipe cures an error."""
    try:
        return _validate(clone(clean))[0]
    except Exception:  # noqa: BLE001 # a foreign validation may raise anything
        return []


def _complaint(clean: object) -> str | None:
    try:
        _validate(clone(clean))
    except Exception as error:  # noqa: BLE001 # a foreign validation may raise anything
        return str(error)
    return None


def _refused(config: MixedPrecisionConfig, target: object, refusal: Exception) -> PrecisionRefused:
    name = config.recipe or type(config).__name__
    message = f"{type(target).__name__} refuses {name}: {type(refusal).__name__}: {refusal}"
    return PrecisionRefused(f"{message}\nNothing was changed.")
