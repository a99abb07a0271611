"""What a file says of a run: field names, a Hugging Face config, or Megatron-LM arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from mp_core.arguments import arguments, is_arguments
from mp_core.errors import InvalidPrecision, closest
from mp_core.fields import KNOWN, checked
from mp_core.hugging_face import SAME, is_hugging_face, translated
from mp_core.situation import Fact

LEGAL = (
    "legal: YAML or JSON of Megatron's field names, a Hugging Face config.json, "
    "or lines of Megatron-LM arguments such as --num-layers 32"
)


class Target(NamedTuple):
    """The facts of a file by Megatron's own field names.

    unread: the names that are not understood, each with the closest known one. kind: ``fields``,
    ``hugging face`` or ``arguments``.
    """

    facts: dict[str, Fact]
    unread: list[str]
    kind: str


def read_target(path: str | PathLike[str]) -> Target:
    """Return what the file at *path* says; names that nobody knows are listed, and are facts too.

    Raises InvalidPrecision for a file that cannot be read and for a value that is not legal.
    """
    file, text = Path(path).name, _text(Path(path))
    if is_arguments(text):
        values, unread = arguments(file, text)
        return _target(file, values, [*unread, *_unknown(values)], "arguments")
    loaded = _mapping(file, text)
    if is_hugging_face(loaded):
        values, unread = translated(file, loaded)
        named = [f"{name}{closest(name, SAME)}" for name in unread]
        return _target(file, values, named, "hugging face")
    values, unread = _flat(file, loaded)
    return _target(file, values, unread, "fields")


def _target(file: str, values: Mapping[str, Any], unread: list[str], kind: str) -> Target:
    facts = {name: Fact(values[name], file) for name in sorted(values)}
    return Target(facts, sorted(unread), kind)


def _text(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidPrecision(f"{path.name} cannot be read: {error.strerror}; {LEGAL}") from error
    except UnicodeDecodeError as error:
        raise InvalidPrecision(f"{path.name} is binary, or no UTF-8; {LEGAL}") from error
    if "\0" in text:
        raise InvalidPrecision(f"{path.name} is binary; {LEGAL}")
    return text


def _mapping(file: str, text: str) -> dict[str, Any]:
    import yaml

    try:
        values = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidPrecision(f"{file} is not YAML or JSON: {error}; {LEGAL}") from error
    if not isinstance(values, dict) or not values:
        raise InvalidPrecision(f"{file} holds no mapping of field names to values; {LEGAL}")
    return {str(name): value for name, value in values.items()}


def _flat(file: str, loaded: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of all sections, and the names that are not understood."""
    found: dict[str, Any] = {}
    places: dict[str, str] = {}
    unread = []
    for place, name, value in _leaves(loaded):
        if name not in KNOWN:
            unread.append(f"{place}{closest(name, KNOWN)}")
            # Where two sections differ on it, it is not a fact about the whole run.
            found[name] = value if found.get(name, value) == value else None
            continue
        value = checked(file, name, value, place)  # noqa: PLW2901 # as the field holds it
        if name in found and found[name] != value:
            message = f"{file}: {places[name]} is {found[name]!r} and {place} is {value!r}"
            raise InvalidPrecision(f"{message}; legal: one value for {name}")
        found[name], places[name] = value, place
    return {n: v for n, v in found.items() if v is not None or n in KNOWN}, unread


def _leaves(values: Mapping[Any, Any], section: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield where each field stands, its name and its value; a mapping is a section."""
    for key, value in values.items():
        name = str(key)
        if isinstance(value, Mapping) and name not in KNOWN - {"optimizer"}:
            yield from _leaves(value, f"{section}{name}.")
        else:
            yield f"{section}{name}", name, value


def _unknown(values: Mapping[str, Any]) -> list[str]:
    return [f"{name}{closest(name, KNOWN)}" for name in values if name not in KNOWN]
