"""Versions compared as versions: 12.10 is newer than 12.9, and 2.8.0rc1 older than 2.8.0."""

from __future__ import annotations

from packaging.version import InvalidVersion, Version

from mp_core.errors import InvalidPrecision


def version(text: object) -> Version:
    """Return *text* as a version; raise InvalidPrecision where it is none."""
    try:
        return Version(str(text))
    except InvalidVersion:
        raise InvalidPrecision(f"{text!r} is not a version; write for example 12.9") from None


def at_least(text: object, floor: str) -> bool | None:
    """Return whether a version is *floor* or later.

    None for a pre-release of *floor* itself, such as 2.8.0.dev0 for 2.8, which may have what
    2.8 has or not: vendors' containers ship such versions.
    """
    found, first = version(text), version(floor)
    if found >= first:
        return True
    return None if _release(found) == _release(first) else False


def within(text: object, first: str, end: str = "") -> bool:
    """Return whether a version is *first* or later and, where *end* is given, before it."""
    found = version(text)
    return found >= version(first) and not (end and found >= version(end))


def _release(found: Version) -> tuple[int, ...]:
    parts = list(found.release)
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)
