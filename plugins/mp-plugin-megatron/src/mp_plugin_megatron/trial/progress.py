"""Progress of a run on standard error: a bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from mp_plugin_megatron.trial.options import Options

Event = dict[str, Any]
LINES = 10


def shown(events: Iterable[Event], options: Options) -> Iterator[Event]:
    """Yield *events*, showing each step."""
    console = Console(stderr=True)
    # Closed here and not by the garbage collector, so that an interrupt ends the ranks first.
    with closing(iter(events)) as source:  # type: ignore[type-var] # a generator has close()
        yield from (
            _bar(source, options, console) if console.is_terminal else _lines(source, options)
        )


def status(event: Event) -> str:
    """Return loss, loss scale and tokens a second of one step."""
    scale = f"  loss scale {event['loss_scale']:.10g}" if event["loss_scale"] != 1 else ""
    skipped = "  overflow, skipped" if event["skipped"] else ""
    return f"loss {event['loss']:.3f}{scale}  {event['tokens_per_second']:,.0f} tokens/s{skipped}"


def _bar(events: Iterable[Event], options: Options, console: Console) -> Iterator[Event]:
    columns = (BarColumn(bar_width=10), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(f"starting {options.ranks} rank(s)", total=options.steps)
        for event in events:
            if "step" in event:
                progress.update(task, completed=event["step"], description=status(event))
            yield event


def _lines(events: Iterable[Event], options: Options) -> Iterator[Event]:
    click.echo(f"starting {options.ranks} rank(s)", err=True)
    every = max(1, options.steps // LINES)
    for event in events:
        step = event.get("step", 0)
        if step and (step == 1 or step % every == 0):
            click.echo(f"step {step}/{options.steps}  {status(event)}", err=True)
        yield event
