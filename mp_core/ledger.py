"""What a recipe wrote into an object, remembered beside the object and never in it."""

from __future__ import annotations

import copy
import dataclasses
import weakref
from typing import Any, NamedTuple, TypeVar

from mp_core.errors import InvalidPrecision, closest

T = TypeVar("T")


class Written(NamedTuple):
    """A value that a recipe wrote, and what stood there before any recipe."""

    before: Any
    written: Any


class Record(NamedTuple):
    """What is remembered of one object: recipes' values by field, and fields the user spoke of."""

    written: dict[str, Written]
    explicit: frozenset[str]
    recipe: str = ""


#: What a copy of a config shares with the original unless copied too.
CONTAINERS = frozenset((dict, list, set))
_EMPTY = Record({}, frozenset())
#: By id, because a dataclass with equality has no hash; an entry leaves with its object.
_records: dict[int, tuple[weakref.ref[Any], Record]] = {}


def recall(target: object) -> Record:
    """Return what is remembered of *target*."""
    reference, record = _records.get(id(target), (None, _EMPTY))
    return record if reference is not None and reference() is target else _EMPTY


def remember(target: object, record: Record) -> None:
    """Replace what is remembered of *target*."""
    key = id(target)
    _records[key] = (weakref.ref(target, lambda _: _records.pop(key, None)), record)


def explicit(target: T, *names: str, **values: object) -> T:
    """Set *values* on *target*, mark them and *names* as the user's own word, and return it.

    A dataclass does not remember whether a value was typed or is its default. A value that
    differs from the default is the user's word without this. Raises InvalidPrecision for a name
    that *target* does not have, before anything is set.
    """
    _check_changeable(target)
    known = vars(target)
    for name in (*names, *values):
        if name not in known:
            message = f"{type(target).__name__} has no field {name!r}{closest(name, known)}"
            raise InvalidPrecision(message)
    for name, value in values.items():
        setattr(target, name, value)
    record = recall(target)
    remember(target, record._replace(explicit=record.explicit | {*names, *values}))
    return target


def baseline(target: T) -> tuple[T, frozenset[str]]:
    """Return a copy of *target* as it is without recipes, and the fields the user spoke of.

    These are the fields that explicit() marked or that changed since a recipe wrote them.
    """
    _check_changeable(target)
    clean, record = clone(target), recall(target)
    spoken = set(record.explicit)
    for name, (before, written) in record.written.items():
        if differs(getattr(target, name), written):
            spoken.add(name)
        else:
            setattr(clean, name, before)
    return clean, frozenset(spoken)


def unlike_default(target: Any, name: str) -> bool:
    """Return whether field *name* holds another value than its class gives it by default."""
    field = getattr(type(target), "__dataclass_fields__", {}).get(name)
    if field is None:
        return False
    default = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    return differs(getattr(target, name), default)


def _check_changeable(target: object) -> None:
    kind = type(target).__name__
    frozen = getattr(getattr(target, "__dataclass_params__", None), "frozen", False)
    if frozen or isinstance(target, type) or not hasattr(target, "__dict__"):
        raise InvalidPrecision(f"{kind} is not a config object whose fields can be set")


def clone(target: T) -> T:
    """Return a copy whose own containers may be changed without touching *target*."""
    made = copy.copy(target)
    state = vars(made)
    for name in [name for name, value in state.items() if type(value) in CONTAINERS]:
        state[name] = copy.copy(state[name])
    return made


def differs(first: Any, second: Any) -> bool:
    """Return whether two values are not the same, also where comparing them gives no bool."""
    if first is second:
        return False
    try:
        return bool(first != second)
    except Exception:  # noqa: BLE001 # a foreign __eq__ may raise anything: call them different
        return True
