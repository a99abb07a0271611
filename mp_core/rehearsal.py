"""Try the changes on a copy, where the target's own validation can refuse in time."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from mp_core.changes import Change
from mp_core.errors import PrecisionRefused
from mp_core.ledger import clone
from mp_core.plan import Note
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
    notes = [Note(f"not checked here: {text}") for text in unchecked]
    if said:
        said = [text for text in said if text not in _validate(clone(clean))[0]]
    return final, notes + [Note(f"{type(clean).__name__} warns: {text}") for text in said]


def _validate(target: object) -> tuple[list[str], list[str]]:
    """Return what the validation of *target* warns of, and what it could not check."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        unchecked = hooks().mp_validate(target=target)
    said = [str(w.message) for w in caught if not issubclass(w.category, DeprecationWarning)]
    return said, unchecked


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
