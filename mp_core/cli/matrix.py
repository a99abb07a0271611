"""``mp matrix``: which recipe runs on which GPU, for given versions."""

from __future__ import annotations

from collections.abc import Sequence

import click

from mp_core.cli.options import json_option, print_json
from mp_core.cli.situations import environment_of
from mp_core.matrix import Cell, matrix, usual_gpus

VERSIONS = {"cuda": "cuda", "cudnn": "cudnn", "te": "transformer_engine", "mcore": "megatron_core"}


@click.command("matrix")
@click.option("--gpu", "gpus", multiple=True, help="A product or key; may be repeated.")
@click.option("--cuda")
@click.option("--cudnn")
@click.option("--te", help="Version of Transformer Engine.")
@click.option("--mcore", help="Version of megatron-core.")
@click.option("--env", multiple=True, default=["none"], help="NAME=VALUE; without it none is set.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print a Markdown table.")
@json_option
def command(
    gpus: tuple[str, ...],
    env: tuple[str, ...],
    as_markdown: bool,
    as_json: bool,
    **versions: str | None,
) -> None:
    """Show which recipe runs on which GPU; a version that is not given is unknown."""
    facts = {VERSIONS[name]: value for name, value in versions.items() if value}
    cells = matrix(gpus or usual_gpus(), facts, environment_of(env))
    if as_json:
        rows = [{**c._asdict(), "findings": [f.to_dict() for f in c.findings]} for c in cells]
        print_json({"versions": facts, "cells": rows})
    elif as_markdown:
        click.echo(markdown(cells))
    else:
        _print(cells)


def markdown(cells: Sequence[Cell]) -> str:
    """Return the table in Markdown, with what stands behind every cell but a plain yes."""
    heads, rows = _rows(cells)
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    lines += ["| " + " | ".join((f"`{row[0]}`", *row[1:])) + " |" for row in rows]
    lines += ["", *(f"- {remark}" for remark in remarks(cells))]
    return "\n".join(lines)


def remarks(cells: Sequence[Cell]) -> list[str]:
    """Return each different finding once, sorted by its code."""
    found = {finding for cell in cells for finding in cell.findings}
    return [f"{f.code}: {f.message} {f.remedy} [{f.source}]" for f in sorted(found)]


def _rows(cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    gpus = list(dict.fromkeys(cell.gpu for cell in cells))
    rows: dict[str, list[str]] = {}
    for cell in cells:
        code = "" if cell.word == "yes" else f" {cell.findings[0].code}"
        rows.setdefault(cell.recipe, [cell.recipe]).append(cell.word + code)
    return ["recipe", *gpus], list(rows.values())


def _print(cells: Sequence[Cell]) -> None:
    from rich.text import Text

    from mp_core.render import page, table

    heads, rows = _rows(cells)
    with page() as out:
        out.print(table(heads, rows))
        out.print()
        for remark in remarks(cells):
            out.print(Text(remark))
