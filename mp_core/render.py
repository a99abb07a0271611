"""Tables for people: readable at 80 columns, whole when piped, plain when asked."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mp_core.plan import show

if TYPE_CHECKING:
    from mp_core.changes import Change
    from mp_core.plan import Plan

#: Wide enough that nothing is folded where no terminal sets the width.
PIPED_WIDTH = 10_000


@contextmanager
def page() -> Iterator[Console]:
    """Give a console on standard output: colour in a terminal; in a pipe plain, whole lines."""
    terminal = Console(highlight=False)
    if terminal.is_terminal:
        yield terminal
        return
    width = None if "COLUMNS" in os.environ else PIPED_WIDTH
    file = io.StringIO()
    yield Console(file=file, width=width, highlight=False, color_system=None)
    click.echo(_stripped(file.getvalue()))


def _stripped(text: str) -> str:
    """Return *text* without the blanks that fill a table's last column."""
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str = "") -> Table:
    """Return a table without lines whose cells fold rather than lose text."""
    made = Table(
        box=None,
        pad_edge=False,
        title=Text(title, style="bold") if title else None,
        title_justify="left",
        header_style="dim",
        padding=(0, 2, 0, 0),
    )
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*(Text(cell) for cell in row))
    return made


def origin(change: Change) -> str:
    """Return where a value comes from, with a rule's reason."""
    return f"{change.origin}: {change.reason}" if change.reason else str(change.origin)


def print_plan(plan: Plan, out: Console) -> None:
    """Print *plan*: a table of changes for each target, then what else there is to know."""
    for label, target in plan.targets.items():
        changes = [change for change in plan.changes if change.target is target]
        title = f"{label}: {type(target).__name__}"
        rows = [(c.field, show(c.old), show(c.new), origin(c)) for c in changes]
        out.print(table(("field", "now", "becomes", "origin"), rows, title) if rows else title)
        stays = [f"{c.field}={show(c.new)}" for c in plan.stays if c.target is target]
        if stays:
            out.print(Text("stays: " + ", ".join(stays), style="dim"))
        out.print()
    for heading, lines in _remarks(plan):
        for line in lines:
            out.print(Text.assemble((f"{heading}: ", "bold"), line))


def _remarks(plan: Plan) -> list[tuple[str, list[str]]]:
    kept = [f"{plan.label(c)}.{c.field}={show(c.new)} was set before and stays" for c in plan.kept]
    overwritten = [
        f"{plan.label(c.change)}.{c.change.field}={show(c.change.old)} was set before. {c.remedy}"
        for c in plan.conflicts
    ]
    notes = [note.text for note in plan.notes]
    findings = [str(finding) for finding in plan.findings]
    return [("kept", kept), ("overwrites", overwritten), ("note", notes), ("finding", findings)]


def plan_text(plan: Plan, width: int) -> str:
    """Return *plan* as plain text of *width* columns."""
    file = io.StringIO()
    out = Console(file=file, width=width, highlight=False, color_system=None)
    out.print(Text(f"plan of {plan.recipe}"))
    print_plan(plan, out)
    return _stripped(file.getvalue())
