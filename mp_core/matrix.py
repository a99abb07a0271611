"""Every recipe on every GPU: what the rules about the machine say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from mp_core.devices import PRODUCTS, offered
from mp_core.findings import Finding
from mp_core.recipes import recipe_book
from mp_core.situation import Situation
from mp_core.verdicts import check, rules

#: One product of each architecture that people train on.
GPUS = ("a100", "l40s", "h100", "b200", "b300", "rtx5090", "mi300x", "mi355x", "gaudi3")


def usual_gpus() -> tuple[str, ...]:
    """Return one product of each architecture, and then what plugins bring."""
    return (*GPUS, *(name for name in offered() if name not in PRODUCTS))


#: What the worst finding says in one word.
WORDS = {"error": "no", "unknown": "?", "warning": "yes, but", "note": "yes"}


class Cell(NamedTuple):
    """Whether a recipe runs on a GPU, and the findings that say so, the worst first."""

    recipe: str
    gpu: str
    word: str
    findings: tuple[Finding, ...]


def matrix(
    gpus: Iterable[str], facts: Mapping[str, Any], environment: Mapping[str, str] | None
) -> list[Cell]:
    """Return a cell for each recipe that is installed and each of *gpus*, by recipe and GPU.

    facts: the versions there. Rules on shapes and layouts are left out.
    """
    about = {code for code, rule in rules().items() if rule.about == "machine"}
    return [
        _cell(recipe, gpu, Situation({**facts, "device": gpu}, environment=environment), about)
        for recipe in sorted(recipe_book())
        for gpu in gpus
    ]


def _cell(recipe: str, gpu: str, situation: Situation, about: set[str]) -> Cell:
    found = tuple(f for f in check(recipe, situation) if f.code in about)
    severities = {finding.severity for finding in found}
    word = next(WORDS[each] for each in (*WORDS, "note") if each in severities or each == "note")
    return Cell(recipe, gpu, word, found)
