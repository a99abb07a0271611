"""Facts about where a recipe shall run; a fact that nobody gave is UNKNOWN, never a default."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple


class Unknown(Enum):
    """The value of a fact that nobody gave or detected."""

    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        return False


UNKNOWN = Unknown.UNKNOWN


class Fact(NamedTuple):
    """A value and where it comes from (``given``, or the class of the config it was read from)."""

    value: Any
    origin: str


class Situation:
    """Facts by Megatron's own field names, from given values and from real config objects.

    given: facts by name, which win over those of the configs.
    configs: objects whose attributes are facts, the first that has one wins.
    """

    def __init__(
        self, given: Mapping[str, Any] | None = None, configs: tuple[object, ...] = ()
    ) -> None:
        self._given = dict(given or {})
        self._configs = configs

    def fact(self, name: str) -> Fact:
        """Return the fact and its origin, or ``Fact(UNKNOWN, "unknown")``."""
        if name in self._given:
            return Fact(self._given[name], "given")
        for config in self._configs:
            if hasattr(config, name):
                return Fact(getattr(config, name), type(config).__name__)
        return Fact(UNKNOWN, "unknown")

    def value(self, name: str) -> Any:
        """Return the fact's value, or UNKNOWN, which is false."""
        return self.fact(name).value
