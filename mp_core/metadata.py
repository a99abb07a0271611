"""Read the distributions that mention mp_core, whatever state their metadata is in."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from importlib_metadata import distributions

MENTION = "[mp_core."
NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
VERSION = re.compile(r"[A-Za-z0-9.!+_-]+")


class Problem(NamedTuple):
    """Something that cannot be used, which costs nothing but itself."""

    distribution: str
    version: str
    entry_point: str
    cause: str

    def __str__(self) -> str:
        who = " ".join(part for part in (self.distribution, self.version) if part)
        return f"{who}{f' [{self.entry_point}]' if self.entry_point else ''}: {self.cause}"


class Place(NamedTuple):
    """A metadata directory as its path tells it: ``folder/name-version.dist-info``."""

    path: str
    folder: str
    name: str
    version: str


class Installed(NamedTuple):
    """One distribution that mentions mp_core: where its metadata is, and its entry_points.txt."""

    name: str
    version: str
    place: Place
    points: str


def installed(path: tuple[str, ...], problems: list[Problem]) -> list[Installed]:
    """Return, by distribution name, what *path* holds; add the rest to *problems*."""
    chosen: dict[str, Installed] = {}
    for one in _mentioning(path, problems):
        first = chosen.setdefault(one.name, one)
        if first.version == one.version:
            continue
        used, hidden = (one, first) if _replaces(one, first) else (first, one)
        chosen[used.name] = used
        problems.append(_hidden(hidden, used.version, used.place.path))
    return list(chosen.values())


def canonical(name: str) -> str:
    """Return a distribution's name as it is compared: lower case, words joined by ``-``."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _mentioning(path: tuple[str, ...], problems: list[Problem]) -> Iterator[Installed]:
    silent: dict[str, list[Place]] = {}
    for dist in distributions(path=list(path)):
        place = _place(dist)
        try:
            # Most distributions end here: parsing their metadata would cost most of a listing.
            points = dist.read_text("entry_points.txt") or ""
            if MENTION not in points:
                silent.setdefault(place.name, []).append(place)
                continue
            one = _identify(dist, place, points)
        except Exception as error:  # noqa: BLE001 # one broken distribution costs one
            problems.append(_unreadable(place, error))
            continue
        hiding = [other for other in silent.get(place.name, ()) if _hides(other, place)]
        if hiding:
            problems.append(_hidden(one, hiding[0].version, hiding[0].path))
        else:
            yield one


def _place(dist: Any) -> Place:
    path = str(getattr(dist, "_path", None) or dist.locate_file(""))
    folder, base = os.path.split(path)
    name, _, version = base.rpartition(".")[0].partition("-")
    return Place(path, folder, canonical(name), version)


def _hides(other: Place, place: Place) -> bool:
    """Return whether *other*, found first, is what an import finds; an empty leftover is not."""
    files = [Path(other.path, name) for name in ("METADATA", "PKG-INFO")]
    return other.folder != place.folder and any(file.exists() for file in files)


def _replaces(one: Installed, first: Installed) -> bool:
    """Return whether *one*, found after *first*, is nevertheless what is installed there."""
    newer = _version_key(one.version) > _version_key(first.version)
    return one.place.folder == first.place.folder and newer


def _identify(dist: Any, place: Place, points: str) -> Installed:
    # Only the header is read: Distribution.metadata parses the whole description too.
    if Path(place.path).name.startswith("~"):
        raise ValueError("a leftover of a broken install: remove it")
    head = (dist.read_text("METADATA") or dist.read_text("PKG-INFO") or "").partition("\n\n")[0]
    name, version = _header(head, "Name"), _header(head, "Version")
    if not NAME.fullmatch(name) or not VERSION.fullmatch(version):
        raise ValueError(f"its metadata has the name {name!r} and the version {version!r}")
    return Installed(canonical(name), version, place, points)


def _header(head: str, key: str) -> str:
    found = re.search(rf"^{key}:[ \t]*(.*)$", head, re.IGNORECASE | re.MULTILINE)
    return found[1].strip() if found else ""


def _version_key(version: str) -> tuple[list[int], int, str, list[int]]:
    """Return a key that orders releases, with what precedes a release (1.0.dev1, 1.0rc1) first."""
    rest = version.lstrip("0123456789.")
    release = version.removesuffix(rest)
    early = re.match(r"[_-]?(dev|a|b|c|rc|alpha|beta|pre)", rest, re.IGNORECASE)
    tag = early[1].lower() if early else ""
    return _numbers(release), 2 if early is None else int(tag != "dev"), tag, _numbers(rest)


def _numbers(text: str) -> list[int]:
    return [int(part) for part in re.findall(r"[0-9]+", text)]


def _hidden(one: Installed, version: str, place: str) -> Problem:
    return Problem(one.name, one.version, "", f"hidden by version {version} at {place}")


def _unreadable(place: Place, error: Exception) -> Problem:
    cause = f"{place.path} cannot be read: {type(error).__name__}: {error}"
    return Problem(place.name, place.version, "", cause)
