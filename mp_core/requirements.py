"""Where something runs, as rows of data: devices, what each needs, and what is different there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from mp_core.devices import matches
from mp_core.findings import Finding, Rule
from mp_core.plugins import hooks
from mp_core.releases import at_least, version
from mp_core.situation import UNKNOWN, Situation


class Place(NamedTuple):
    """A row of the table: some devices, and what holds on them.

    device: as devices.matches() takes it. cuda, cublas, cudnn, transformer_engine: the lowest
    versions, empty where there is no such thing. variables: environment variables that have to
    be set, as ``NAME=value``. no: why it does not run there. but: what is different there, said
    with *severity*. remedy: what to type then. source: what a reader can open.
    """

    device: str
    source: str
    cuda: str = ""
    cublas: str = ""
    cudnn: str = ""
    transformer_engine: str = ""
    variables: tuple[str, ...] = ()
    no: str = ""
    but: str = ""
    severity: str = "warning"
    remedy: str = ""


#: The libraries that a place may need, by the fact's name.
LIBRARIES = {
    "cuda": "CUDA",
    "cublas": "cuBLAS",
    "cudnn": "cuDNN",
    "transformer_engine": "Transformer Engine",
}


@dataclass(frozen=True)
class Requirements:
    """Where *what* runs; the rules' codes are *prefix* and numbers from *start* on.

    A code each for the device, CUDA, cuBLAS, cuDNN, Transformer Engine and environment variables;
    those that no place needs have no rule. The first place whose device matches decides, and then
    those that other plugins offer; a device of no place is unknown.
    """

    what: str
    prefix: str
    places: tuple[Place, ...]
    source: str
    start: int = 201

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules that check() gives findings of."""
        failure = "The run fails at its first forward pass, after every rank has started."
        device = Rule(
            f"{self.prefix}{self.start}",
            f"{self.what} runs on some architectures only, and not always on newer ones.",
            failure,
            self.source,
            "machine",
        )
        libraries = [self._library_rule(fact) for fact in LIBRARIES if self._any(fact)]
        return device, *libraries, *([self._variable_rule()] if self._any("variables") else [])

    def _any(self, need: str) -> bool:
        return any(getattr(place, need) for place in self.places)

    def variables(self, situation: Situation) -> frozenset[str]:
        """Return the variables that the situation's device needs, as ``NAME=value``."""
        device = str(situation.value("device"))
        return frozenset(
            v for row in self.places if matches(row.device, device) for v in row.variables
        )

    def check(self, situation: Situation) -> Iterator[Finding]:
        """Yield what stands against running on the situation's device, or is not known."""
        rule = self.rules()[0]
        device = situation.value("device")
        if device in (UNKNOWN, None):
            message = f"Whether {self.what} runs is not known: the device is not known."
            yield rule.unknown(message, "Type --gpu, such as --gpu h100.")
            self._ask(situation)
            return
        offered = [row for rows in hooks().mp_places() for row in rows.get(rule.code, ())]
        rows = (*self.places, *offered)
        place = next((each for each in rows if matches(each.device, device)), None)
        if place is None:
            message = f"Whether {self.what} runs on {device} is not known: no source says."
            known = ", ".join(each.device for each in rows if not each.no)
            yield rule.unknown(message, f"Known: {known}.")
        elif place.no:
            message = f"{self.what} does not run on {device}: {place.no}"
            yield rule.error(message, place.remedy or "See mp matrix.", place.source)
        else:
            yield from self._needs(place, situation, rule)

    def _ask(self, situation: Situation) -> None:
        """Ask for what a device would need, so that it is among the missing facts too."""
        for fact in LIBRARIES:
            if self._any(fact):
                situation.value(fact)

    def _needs(self, place: Place, situation: Situation, rule: Rule) -> Iterator[Finding]:
        for fact in LIBRARIES:
            floor = getattr(place, fact)
            if floor:
                yield from self._library(self._library_rule(fact), fact, floor, situation, place)
        for variable in place.variables:
            yield from self._variable(self._variable_rule(), variable, situation, place)
        if place.but:
            message = f"{self.what} on {situation.value('device')}: {place.but}"
            say = getattr(rule, place.severity)
            yield say(message, place.remedy or "Compare losses before a long run.", place.source)

    def _library(
        self, rule: Rule, fact: str, floor: str, situation: Situation, place: Place
    ) -> Iterator[Finding]:
        name, found = LIBRARIES[fact], situation.value(fact)
        where = f"on {situation.value('device')}"
        need = f"{self.what} {where} needs {name} {floor} or later"
        flag = {"transformer_engine": "te"}.get(fact, fact)
        if found is None:
            message = f"{need}, and it is not installed."
            yield rule.error(message, f"Install {name} {floor} or later.", place.source)
        elif found is UNKNOWN:
            if fact != "cublas" or not _cuda_answers(situation, place):
                yield rule.unknown(f"{need}; which is there is not known.", f"Type --{flag}.")
        elif at_least(found, floor) is None:
            message = f"{need}; {found} is a pre-release of it, which may have it or not."
            yield rule.unknown(message, f"Use {name} {floor}.", place.source)
        elif not at_least(found, floor):
            message = f"{need}; here is {found}."
            yield rule.error(message, f"Use {name} {floor} or later.", place.source)

    def _variable(
        self, rule: Rule, variable: str, situation: Situation, place: Place
    ) -> Iterator[Finding]:
        name, _, wanted = variable.partition("=")
        found = situation.value(name)
        need = f"{self.what} on {situation.value('device')} needs {variable} in the environment"
        if found is UNKNOWN:
            message = f"{need}; whether it is set is not known."
            yield rule.unknown(message, f"Type --env {variable} if it is.", place.source)
        elif str(found) != wanted:
            state = "it is not set" if found is None else f"it is {found!r}"
            yield rule.error(f"{need}; {state}.", f"export {variable}", place.source)

    def _library_rule(self, fact: str) -> Rule:
        name, number = LIBRARIES[fact], self.start + 1 + list(LIBRARIES).index(fact)
        why = f"The {name} that brings what {self.what} calls, by architecture."
        follows = "An older one refuses, or has no such kernel or class."
        return Rule(f"{self.prefix}{number}", why, follows, self.source, "machine")

    def _variable_rule(self) -> Rule:
        why = f"On some devices {self.what} is off unless an environment variable turns it on."
        follows = "The library refuses, or runs what its authors do not support."
        return Rule(f"{self.prefix}{self.start + 5}", why, follows, self.source, "machine")


def _cuda_answers(situation: Situation, place: Place) -> bool:
    """Return whether CUDA's own finding stands for cuBLAS: a toolkit ships its own version's."""
    cuda = situation.value("cuda")
    if cuda in (UNKNOWN, None):
        return bool(place.cuda)
    return version(cuda) >= version(place.cublas) or not at_least(cuda, place.cuda or "0")
