"""Facts about where a recipe shall run; a fact that nobody gave is UNKNOWN, never a default."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

#: Facts that are versions: of CUDA, its libraries, and the frameworks.
VERSIONS = ("cublas", "cuda", "cudnn", "megatron_core", "torch", "transformer_engine")
#: The facts about the machine; every other fact is a field of the framework's configs.
MACHINE = ("device", *VERSIONS)


class Unknown(Enum):
    """The value of a fact that nobody gave or detected."""

    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        return False


UNKNOWN = Unknown.UNKNOWN


class Fact(NamedTuple):
    """A value and where it comes from: ``given``, ``detected``, a file, or a config's class."""

    value: Any
    origin: str


class Situation:
    """Facts by Megatron's own field names, and about the machine.

    given: facts by name, which win. Of the machine: ``device`` (``cuda:sm90`` or a product such
    as ``h100``), and the versions of VERSIONS as text. configs: objects whose attributes are
    facts, the first that has one wins. environment: all environment variables there; None where
    they are not known. facts: what is asked last, each with its origin. settled: facts that win
    over everything, which is what a recipe sets.
    Raises InvalidPrecision for a device or a version that cannot be read.
    """

    def __init__(
        self,
        given: Mapping[str, Any] | None = None,
        configs: tuple[object, ...] = (),
        *,
        environment: Mapping[str, str] | None = None,
        facts: Mapping[str, Fact] | None = None,
        settled: Mapping[str, Fact] | None = None,
    ) -> None:
        self._given = {name: fact_value(name, value) for name, value in (given or {}).items()}
        self._configs = configs
        self._environment = environment
        self._facts = {name: Fact(fact_value(name, f.value), f.origin) for name, f in _items(facts)}
        self._settled = dict(settled or {})
        self._asked: set[str] = set()

    def fact(self, name: str) -> Fact:
        """Return the fact and its origin, or ``Fact(UNKNOWN, "unknown")``."""
        self._asked.add(name)
        if name in self._settled:
            return self._settled[name]
        if name in self._given:
            return Fact(self._given[name], "given")
        for config in self._configs:
            if hasattr(config, name):
                return Fact(getattr(config, name), type(config).__name__)
        if name.isupper() and self._environment is not None:
            return Fact(self._environment.get(name), "environment")
        return self._facts.get(name, Fact(UNKNOWN, "unknown"))

    def value(self, name: str) -> Any:
        """Return the fact's value, or UNKNOWN, which is false; a variable not set is None."""
        return self.fact(name).value

    def under(self, settled: Mapping[str, Fact]) -> Situation:
        """Return this situation with *settled* facts, whatever else it knows."""
        return self._copy(settled={**self._settled, **settled})

    def of_configs(self, configs: tuple[object, ...]) -> Situation:
        """Return this situation of other config objects."""
        return self._copy(configs=configs)

    def _copy(self, **changes: Any) -> Situation:
        same: dict[str, Any] = {"configs": self._configs, "environment": self._environment}
        same |= {"facts": self._facts, "settled": self._settled}
        made = Situation(self._given, **{**same, **changes})
        # What is asked of a copy is asked of this one: a caller lists what was missing.
        made._asked = self._asked
        return made

    def known(self) -> dict[str, Fact]:
        """Return the facts that were given, read or asked for and are known, sorted by name."""
        names = sorted({*self._given, *self._facts, *self._asked})
        facts = {name: self.fact(name) for name in names}
        # An unset variable is known, but every other one of the machine's is too.
        hidden = {n for n, f in facts.items() if f.value is UNKNOWN or (n.isupper() and not f[0])}
        return {name: fact for name, fact in facts.items() if name not in hidden}

    def missing(self) -> list[str]:
        """Return the names of the facts that were asked for and are not known, sorted."""
        return sorted(name for name in self._asked if self.fact(name).value is UNKNOWN)


def situation_of(about: Any) -> Situation:
    """Return *about* as a situation: one itself, a mapping of facts, a config or several."""
    if isinstance(about, Situation):
        return about
    if about is None or isinstance(about, Mapping):
        return Situation(about)
    return Situation(configs=tuple(about) if isinstance(about, (list, tuple)) else (about,))


def _items(facts: Mapping[str, Fact] | None) -> list[tuple[str, Fact]]:
    return list((facts or {}).items())


def fact_value(name: str, value: Any) -> Any:
    """Return a fact in the one form that rules compare."""
    if name == "device" and isinstance(value, str):
        from mp_core.devices import device_key

        return device_key(value)
    if name in VERSIONS and value is not UNKNOWN and value is not None:
        from mp_core.releases import version

        return str(version(value))
    return value
