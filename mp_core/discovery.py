"""Find what distributions offer, from installed metadata alone: find → name → check → select."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from mp_core.errors import closest
from mp_core.metadata import Installed, Problem, canonical, installed

RECIPES = "mp_core.recipes"
PLUGINS = "mp_core.plugins"
COMMANDS = "mp_core.commands"
GROUPS = (COMMANDS, PLUGINS, RECIPES)
VARIABLES = ("MP_PLUGIN_AUTOLOAD", "MP_PLUGINS", "MP_DISABLE_PLUGINS")
AUTOLOAD = {"": True, "1": True, "0": False}

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?")
TARGET = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*(?::[A-Za-z_]\w*(?:\.\w+)*)?")


class Entry(NamedTuple):
    """One entry point that may be loaded later; *target* is ``module`` or ``module:attribute``."""

    group: str
    name: str
    target: str
    distribution: str
    version: str

    @property
    def display(self) -> str:
        """Who, for messages: distribution, version, entry point and target."""
        return f"{self.distribution} {self.version} [{self.name} = {self.target}]"


class Found(NamedTuple):
    """What the metadata offers here: usable entries, problems, and what was switched off."""

    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]
    disabled: tuple[Entry, ...]

    def group(self, group: str) -> list[Entry]:
        """Return the usable entries of one group."""
        return [entry for entry in self.entries if entry.group == group]


def find() -> Found:
    """Return the entries of mp_core's groups; read once for each path and environment."""
    return _find(tuple(sys.path), tuple(os.environ.get(name, "").strip() for name in VARIABLES))


@lru_cache(maxsize=8)
def _find(path: tuple[str, ...], environment: tuple[str, ...]) -> Found:
    problems: list[Problem] = []
    entries: list[Entry] = []
    for one in installed(path, problems):
        entries += _entries(one, problems)
    autoload, allowed, denied = environment
    deny = _names(denied)
    known = {entry.distribution for entry in entries}
    known |= {problem.distribution for problem in problems}
    problems = [problem for problem in problems if problem.distribution not in deny]
    problems += _unknown_names(environment, known)
    wanted = _selector(autoload, _names(allowed), deny)
    usable = sorted(entry for entry in entries if wanted(entry.distribution))
    disabled = sorted(entry for entry in entries if not wanted(entry.distribution))
    return Found(tuple(usable), tuple(sorted(set(problems))), tuple(disabled))


def _entries(one: Installed, problems: list[Problem]) -> Iterator[Entry]:
    """Yield the usable entries of one distribution, each name once."""
    targets: dict[tuple[str, str], str] = {}
    for group, name, target in _points(one.points):
        entry = Entry(group, name, target, one.name, one.version)
        key = (group, name.replace("-", "_"))
        cause = _illegal(entry) or _twice(targets.get(key), target)
        if cause:
            problems.append(Problem(one.name, one.version, _printable(name), cause))
        elif key not in targets:
            targets[key] = target
            yield entry


def _points(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield group, name and target of mp_core's lines.

    As importlib_metadata reads them; but its EntryPoint objects raise, in some releases, for all
    lines of a file where one is malformed.
    """
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            group = line.strip("[]")
        elif line and not line.startswith("#") and group.startswith("mp_core."):
            name, _, target = (part.strip() for part in line.partition("="))
            yield group, name, target


def _illegal(entry: Entry) -> str:
    if entry.group not in GROUPS:
        return f"this mp-core has no group {entry.group!r}{closest(entry.group, GROUPS)}"
    if not NAME.fullmatch(entry.name):
        return "an entry point's name holds letters, digits, '_', '-' and '.' only"
    if not TARGET.fullmatch(entry.target) or (":" not in entry.target and entry.group != PLUGINS):
        return f"its target {entry.target!r} is not of the form module:attribute"
    return ""


def _twice(first: str | None, target: str) -> str:
    if first in (None, target):
        return ""
    return f"its target {target} is not used: the name is given twice, first as {first}"


def _printable(name: str) -> str:
    return name if NAME.fullmatch(name) else repr(name)


def _unknown_names(environment: tuple[str, ...], known: set[str]) -> Iterator[Problem]:
    if environment[0] not in AUTOLOAD:
        yield Problem(VARIABLES[0], "", "", f"{environment[0]!r} is neither 0 nor 1; read as 1")
    for variable, value in zip(VARIABLES[1:], environment[1:], strict=True):
        for name in sorted(_names(value) - known):
            yield Problem(name, "", "", f"{variable} names it, but it is not installed")


def _selector(autoload: str, allow: set[str], deny: set[str]) -> Callable[[str], bool]:
    chosen = AUTOLOAD.get(autoload, True)
    return lambda name: name not in deny and (name in allow if allow else chosen)


def _names(value: str) -> set[str]:
    return {canonical(name) for name in value.split(",") if name.strip()}
