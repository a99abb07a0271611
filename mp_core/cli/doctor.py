"""``mp doctor``: what is installed and detected here, what is broken, and which recipes run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import click

from mp_core.cli.options import json_option, print_json
from mp_core.discovery import find
from mp_core.errors import MixedPrecisionError, PluginError
from mp_core.findings import Finding
from mp_core.machine import FRAMEWORKS, LIBRARIES, detected, installed_version
from mp_core.plugins import manager
from mp_core.probing import Probe, probe
from mp_core.recipes import recipe_book, runtime_recipes
from mp_core.situation import Fact, Situation
from mp_core.verdicts import check, rules, variables

#: What is imported, by the fact that tells whether it is installed.
MODULES = {
    "torch": "torch",
    "transformer_engine": "transformer_engine.pytorch",
    "megatron_core": "megatron.core",
}
#: Parts of Transformer Engine that its meta package needs.
PARTS = ("transformer-engine-cu12", "transformer-engine-cu13", "transformer-engine-torch")
OWN = {
    "MP_DISABLE_PLUGINS": "the distributions named are not used",
    "MP_PLUGINS": "only the distributions named are used",
    "MP_PLUGIN_AUTOLOAD": "0 uses no distribution but those of MP_PLUGINS",
    "MP_PREFER": "which distribution's recipe a name means where several offer it",
}


@click.command("doctor")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show what is installed and detected here, what is broken, and which recipes run.

    Exit status 1 where a plugin or an installed library is broken, else 0.
    """
    report = examine()
    if as_json:
        print_json(report)
    else:
        _print(report)
    ctx.exit(int(report["broken"]))


def examine() -> dict[str, Any]:
    """Return all that the verb tells, as values of JSON."""
    facts = detected()
    probes = _probes(facts)
    faults = {name: each for name, each in probes.items() if each.state == "broken"}
    recipes, failed = _recipes(facts, probes)
    # Asked last: a plugin that fails in a hook has been noted only now.
    problems = sorted({*find().problems, *manager().problems})
    return {
        "installed": _installed(),
        "imports": [each._asdict() for each in probes.values()],
        "facts": {name: fact._asdict() for name, fact in facts.items()},
        "problems": [*map(str, problems), *failed],
        "environment": _environment(),
        "recipes": recipes,
        "broken": bool(faults or problems or failed),
    }


def _probes(facts: Mapping[str, Fact]) -> dict[str, Probe]:
    with ThreadPoolExecutor() as pool:
        probes = dict(zip(MODULES, pool.map(probe, MODULES.values()), strict=True))
    return {name: _judged(name, each, facts) for name, each in probes.items()}


def _judged(name: str, one: Probe, facts: Mapping[str, Fact]) -> Probe:
    """Return a probe in which what is missing of an installed library is broken."""
    text = installed_version(FRAMEWORKS[name][0])
    if one.state != "missing" or text is None:
        return one
    message = f"{FRAMEWORKS[name][0]} {text} is installed, but not whole. {one.message}"
    return Probe(one.module, "broken", message)


def _installed() -> dict[str, str]:
    libraries = [d for majors in LIBRARIES.values() for each in majors.values() for d in each]
    found = {name: installed_version(name) for name in (*libraries, *PARTS)}
    found |= {name: installed_version(name) for name, _ in FRAMEWORKS.values()}
    found |= {"mp-core": installed_version("mp-core")}
    found |= {entry.distribution: entry.version for entry in find().entries}
    return {name: text for name, text in sorted(found.items()) if text is not None}


def _environment() -> dict[str, dict[str, str]]:
    known = {**variables(), **OWN}
    return {
        name: {"value": os.environ[name], "changes": text}
        for name, text in sorted(known.items())
        if name in os.environ
    }


def _recipes(
    facts: Mapping[str, Fact], probes: Mapping[str, Probe]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return a row for each recipe, and what is wrong with those that cannot be built."""
    failed: list[str] = []

    def row(name: str) -> dict[str, Any]:
        try:
            return _verdict(name, facts, probes)
        except MixedPrecisionError as error:
            # Rivals are a choice that nobody made yet; nothing of theirs is broken.
            failed.extend([str(error)] if isinstance(error, PluginError) else [])
            return _row(name, "no", [("", str(error))])

    return [row(name) for name in sorted({*recipe_book(), *runtime_recipes()})], failed


def _verdict(name: str, facts: Mapping[str, Fact], probes: Mapping[str, Probe]) -> dict[str, Any]:
    # Without the facts of what does not import, the situation tells whether a rule needs them.
    sound = {n: fact for n, fact in facts.items() if n not in probes or _imports(probes[n])}
    asked = Situation(environment=os.environ, facts=sound)
    check(name, asked)
    found = check(name, Situation(environment=os.environ, facts=facts))
    needed = {"torch", *asked.missing()} & {n for n, p in probes.items() if not _imports(p)}
    about = rules()
    findings = [f for f in found if f.code in about and about[f.code].about == "machine"]
    stopping = [(f.code, f.message) for f in findings if f.severity == "error"]
    stopping += [("", _unusable(probes[each])) for each in sorted(needed) if each in probes]
    if stopping:
        return _row(name, "no", stopping)
    missing = [(f.code, f.message) for f in findings if f.severity == "unknown"]
    return _row(name, "unknown" if missing else "yes", missing or _remarks(findings))


def _remarks(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.code, finding.message) for finding in findings]


def _imports(one: Probe) -> bool:
    return one.state == "imports"


def _unusable(one: Probe) -> str:
    state = "is not installed" if one.state == "missing" else "cannot be imported"
    return f"It needs {one.module}, which {state} here."


def _row(name: str, runs: str, because: list[tuple[str, str]]) -> dict[str, Any]:
    reasons = [{"code": code, "message": message} for code, message in because]
    return {"recipe": name, "runs": runs, "because": reasons}


def _print(report: dict[str, Any]) -> None:
    from mp_core.render import page, table

    with page() as out:
        for title, columns, rows in _tables(report):
            out.print(table(columns, rows, title) if rows else f"{title}: none", markup=False)
            out.print()
        broken = "Something is broken: see above." if report["broken"] else "Nothing is broken."
        out.print(broken)


def _tables(report: dict[str, Any]) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    imports = [(p["module"], _state(p["state"]), p["message"]) for p in report["imports"]]
    facts = [(name, _fact(f["value"]), f["origin"]) for name, f in report["facts"].items()]
    environment = [(n, v["value"], v["changes"]) for n, v in report["environment"].items()]
    return [
        ("Installed", ("distribution", "version"), sorted(report["installed"].items())),
        ("Imports", ("module", "state", "why"), imports),
        ("Detected", ("fact", "value", "origin"), facts),
        ("Broken plugins", ("problem",), [(each,) for each in report["problems"]]),
        ("Environment", ("variable", "value", "changes"), environment),
        ("Recipes", ("recipe", "runs here", "because"), [_cells(r) for r in report["recipes"]]),
    ]


def _state(state: str) -> str:
    return "not installed" if state == "missing" else state


def _fact(value: str | None) -> str:
    return "not installed" if value is None else value


def _cells(row: dict[str, Any]) -> tuple[str, str, str]:
    because = [f"{each['code']} {each['message']}".strip() for each in row["because"]]
    return row["recipe"], row["runs"], " ".join(because)
