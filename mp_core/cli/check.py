"""``mp check``: whether a recipe can run somewhere, and what stands against it."""

from __future__ import annotations

from typing import Any

import click

from mp_core.cli.options import json_option, print_json
from mp_core.cli.situations import situation_from, situation_options
from mp_core.findings import Finding
from mp_core.plan import plain, show
from mp_core.situation import Situation
from mp_core.verdicts import check

VERDICTS = {
    "error": "It cannot run like this.",
    "unknown": "Nothing known stands against it; what is not known is named above.",
    "warning": "It can run; read the warnings.",
    "note": "It can run.",
}


@click.command("check")
@click.argument("name")
@situation_options
@click.option("--strict", is_flag=True, help="Fail where a needed fact is unknown, too.")
@json_option
@click.pass_context
def command(ctx: click.Context, /, name: str, strict: bool, as_json: bool, **options: Any) -> None:
    """Check whether recipe NAME can run there; exit status 1 where it cannot."""
    situation = situation_from(options)
    findings = check(name, situation)
    if as_json:
        rows = [finding.to_dict() for finding in findings]
        print_json({"recipe": name, "situation": facts(situation), "findings": rows})
    else:
        print_findings(name, situation, findings)
    failing = {"error", "unknown"} if strict else {"error"}
    ctx.exit(int(any(finding.severity in failing for finding in findings)))


def facts(situation: Situation) -> dict[str, Any]:
    """Return what is known and what was missing, by name, with its origin."""
    known = situation.known()
    rows = {n: {"value": plain(f.value), "origin": f.origin} for n, f in known.items()}
    rows |= {n: {"value": None, "origin": "unknown"} for n in situation.missing()}
    return dict(sorted(rows.items()))


def print_findings(name: str, situation: Situation, findings: list[Finding]) -> None:
    """Print the findings about *name*, and the verdict."""
    from rich.text import Text

    from mp_core.render import page

    known = situation.known().items()
    with page() as out:
        out.print(Text(name, style="bold"))
        out.print(Text("with " + ", ".join(f"{n} {show(f.value)}" for n, f in known), style="dim"))
        for finding in findings:
            out.print()
            head = (f"{finding.code} {finding.severity}: ", "bold")
            out.print(Text.assemble(head, finding.message))
            out.print(Text.assemble("  ", finding.remedy, (f" [{finding.source}]", "dim")))
        out.print()
        out.print(_verdict(findings), markup=False)


def _verdict(findings: list[Finding]) -> str:
    severities = {finding.severity for finding in findings}
    worst = next((each for each in VERDICTS if each in severities), "note")
    return VERDICTS[worst]
