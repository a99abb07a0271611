"""``mp precision-file``: Megatron's per-module precision file, written or checked."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from mp_core import Finding, InvalidPrecision, Situation, get_mixed_precision_config
from mp_core.cli.check import facts, print_findings
from mp_core.cli.options import json_option, print_json
from mp_core.cli.situations import situation_from, situation_options
from mp_core.machine import installed_version
from mp_core.verdicts import SEVERITIES, check, rules
from mp_plugin_megatron.precision.file import PrecisionFile, recipes
from mp_plugin_megatron.precision.reading import parse, read
from mp_plugin_megatron.precision.rules import check_file
from mp_plugin_megatron.precision.writing import written

#: What decides whether an entry's own recipe runs there; the rest is a matter of the whole run.
PLACES = ("machine", "shape")


@click.command("precision-file")
@click.argument("name")
@click.argument("layers", nargs=-1, metavar="[GLOB=RECIPE]...")
@click.option("--output", type=click.Path(dir_okay=False), help="Write to this new file.")
@click.option("--check", "path", type=click.Path(dir_okay=False), help="Check this file instead.")
@situation_options
@json_option
@click.pass_context
def command(
    ctx: click.Context, /, name: str, layers: tuple[str, ...], path: str | None, **options: Any
) -> None:
    """Write the file by which Megatron gives modules another precision than recipe NAME.

    Each GLOB is matched against a module's path, the first that fits decides. With --check,
    say what stands against a file beside NAME; exit status 1 where it cannot run like this.
    """
    if path and (layers or options["output"]):
        raise click.UsageError("--check reads a file: leave out patterns and --output")
    if path:
        ctx.exit(_checked(name, read(path), situation_from(options), options["as_json"]))
    _write(name, dict(_pair(each) for each in layers), options)


def _pair(text: str) -> tuple[str, str]:
    glob, equals, recipe = (part.strip() for part in text.partition("="))
    if not (glob and equals and recipe):
        raise InvalidPrecision(f"{text!r} is not GLOB=RECIPE: write for example *fc2=bf16_mixed")
    return glob, recipe


def _write(name: str, layers: dict[str, str], options: dict[str, Any]) -> None:
    version = options["mcore"] or installed_version("megatron-core")
    if not version:
        raise InvalidPrecision("which megatron-core reads the file is not known; type --mcore")
    text = written(name, layers, version)
    situation = Situation({"megatron_core": version})
    found = _findings(name, parse(options["output"] or "the file", text), situation)
    if options["output"]:
        _save(Path(options["output"]), text)
    if options["as_json"]:
        rows = [finding.to_dict() for finding in found]
        print_json({"recipe": name, "layers": layers, "text": text, "findings": rows})
        return
    if not options["output"]:
        click.echo(text, nl=False)
    for finding in found:
        if finding.severity in ("error", "warning"):
            click.echo(f"mp: {finding}", err=True)


def _save(file: Path, text: str) -> None:
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise InvalidPrecision(f"{file} exists: remove it, or name another --output") from None
    except OSError as error:
        raise InvalidPrecision(f"{file} cannot be written: {error.strerror}") from error


def _checked(name: str, file: PrecisionFile, situation: Situation, as_json: bool) -> int:
    found = [*_findings(name, file, situation), *_of_entries(name, file, situation)]
    found.sort(key=lambda each: (SEVERITIES.index(each.severity), each))
    if as_json:
        rows = [finding.to_dict() for finding in found]
        about = {"recipe": name, "file": file.name, "situation": facts(situation)}
        print_json({**about, "findings": rows})
    else:
        print_findings(f"{name} with {file.name}", situation, found)
    return int(any(finding.severity == "error" for finding in found))


def _findings(name: str, file: PrecisionFile, situation: Situation) -> list[Finding]:
    return list(check_file(get_mixed_precision_config(name), file, situation))


def _of_entries(name: str, file: PrecisionFile, situation: Situation) -> list[Finding]:
    """Return what stands against each entry's own recipe there, under the entry's name."""
    known = rules()
    return [
        dataclasses.replace(finding, message=f"{entry}: {finding.message}")
        for entry, config in recipes(file, get_mixed_precision_config(name)).items()
        for finding in check(config, situation)
        if known[finding.code].about in PLACES
    ]
