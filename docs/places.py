"""Where the installed recipes run, and from which releases on: asked of the rules."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mp_core import MIXED_PRECISION_RECIPES, UNKNOWN, MixedPrecisionConfig, Recipe
from mp_core.findings import Finding
from mp_core.matrix import Cell, matrix
from mp_core.releases import version
from mp_core.requirements import LIBRARIES
from mp_core.settings import mode
from mp_core.situation import VERSIONS

DATA = Path(__file__).parents[1] / "tests" / "data" / "published_runs.json"
RUNS: list[dict[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))["runs"]
#: The releases for which the generated pages say what runs.
RELEASES = {"cuda": "13.0", "transformer_engine": "2.16", "megatron_core": "0.18.2"}
#: A machine with nothing installed is told every floor.
BARE = dict.fromkeys(VERSIONS)
FACTS = {**LIBRARIES, "megatron_core": "megatron-core", "torch": "PyTorch"}
SAID = ", ".join(f"{FACTS[fact]} {release}" for fact, release in RELEASES.items())
#: What a finding may ask for; whether it does, and from where on, a check with it tells.
RELEASE = re.compile(r"\b\d+(?:\.\d+)+\b")
VARIABLE = re.compile(r"\b([A-Z][A-Z0-9_]{3,})=(\w+)")


class Place(NamedTuple):
    """Whether a recipe runs on a GPU with RELEASES and the variables that it needs there.

    needs: the lowest releases, by fact. findings: with RELEASES, then with the lowest ones.
    """

    word: str
    needs: dict[str, str]
    variables: dict[str, str]
    findings: tuple[Finding, ...]


@cache
def installed() -> dict[str, Recipe]:
    """Return the installed recipes by name, sorted."""
    return {n: r for n, r in sorted(MIXED_PRECISION_RECIPES.items()) if isinstance(r, Recipe)}


def family(config: MixedPrecisionConfig) -> str:
    """Return the short name of what a recipe computes in."""
    return config.fp4_recipe if config.fp4 else config.fp8_recipe if config.fp8 else mode(config)


def alias_of(recipe: Recipe) -> str:
    """Return the recipe whose function *recipe* is under another name, or an empty string."""
    function = recipe.target.rpartition(":")[2]
    return function if function != recipe.name and function in installed() else ""


@cache
def place(recipe: str, gpu: str) -> Place:
    """Return whether *recipe* runs on *gpu*, and from which releases on."""
    bare = cells(gpu, BARE)[recipe].findings
    told = " ".join(f"{finding.message} {finding.remedy}" for finding in bare)
    asked = dict(VARIABLE.findall(told))
    plain, new = (cells(gpu, RELEASES, each)[recipe] for each in ({}, asked))
    if new.word == "no":
        return Place(new.word, {}, {}, new.findings)
    environment = {} if plain.word == new.word else asked
    candidates = sorted(set(RELEASE.findall(told)), key=version)
    needs = {fact: _floor(new, fact, candidates, environment) for fact in FACTS}
    # What another one brings, as CUDA does its own cuBLAS, need not be named.
    needs = {f: v for f, v in needs.items() if _worse(new, {**needs, f: UNKNOWN}, environment)}
    old = cells(gpu, needs, environment)[recipe]
    findings = tuple(dict.fromkeys((*new.findings, *old.findings)))
    return Place(new.word, needs, environment, findings)


def _floor(new: Cell, fact: str, candidates: list[str], environment: dict[str, str]) -> Any:
    """Return the lowest release of *fact* with which nothing more is wrong than in *new*.

    UNKNOWN where it is not needed.
    """
    for release in (None, *candidates):
        # A toolkit ships the cuBLAS of its own version.
        facts = {**RELEASES, "cublas": RELEASES["cuda"], fact: release}
        if not _worse(new, facts, environment):
            return release or UNKNOWN
    return RELEASES.get(fact, UNKNOWN)


def _worse(new: Cell, facts: dict[str, Any], environment: dict[str, str]) -> bool:
    there = cells(new.gpu, facts, environment)[new.recipe]
    bad = {each for each in there.findings if each.severity in ("error", "unknown")}
    return not bad <= {*new.findings}


def cells(gpu: str, facts: dict[str, Any], environment: dict[str, str] | None = None) -> Any:
    """Return the matrix's cells of one GPU, by recipe."""
    return _matrix(gpu, tuple(facts.items()), tuple((environment or {}).items()))


@cache
def _matrix(gpu: str, *pairs: tuple[tuple[str, Any], ...]) -> dict[str, Cell]:
    facts, environment = map(dict, pairs)
    return {cell.recipe: cell for cell in matrix([gpu], facts, environment)}


def needed(found: Place) -> str:
    """Return what a place needs, in words."""
    releases = [f"{FACTS[fact]} {release}" for fact, release in found.needs.items()]
    return ", ".join([*releases, *(f"`{n}={v}`" for n, v in sorted(found.variables.items()))])
