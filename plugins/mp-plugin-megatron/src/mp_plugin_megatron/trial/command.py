"""``mp try``: the command."""

from __future__ import annotations

import signal
from typing import Any

import click

from mp_core import get_mixed_precision_config
from mp_core.cli.options import json_option, print_json
from mp_plugin_megatron.trial.options import HEADS, Options

COUNT = click.IntRange(min=1)
INTERRUPTED = 130


@click.command("try")
@click.argument("name")
@click.option("--ranks", type=COUNT, default=1, show_default=True, help="Processes to train in.")
@click.option("--steps", type=COUNT, default=50, show_default=True)
@click.option("--seed", type=int, default=1234, show_default=True)
@click.option("--layers", type=COUNT, default=2, show_default=True)
@click.option("--hidden", type=COUNT, default=64, show_default=True, help=f"A multiple of {HEADS}.")
@json_option
@click.pass_context
def command(ctx: click.Context, /, name: str, as_json: bool, **sizes: int) -> None:
    """Train a small real model with a recipe and show what is in effect."""
    if sizes["hidden"] % HEADS:
        raise click.BadParameter(f"must be a multiple of {HEADS}, its heads", param_hint="--hidden")
    get_mixed_precision_config(name)
    # Ctrl-C and a scheduler's SIGTERM end a run the same way.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        result = _run(Options(name, **sizes))
    except KeyboardInterrupt:
        click.echo("mp: interrupted; every rank has ended", err=True)
        ctx.exit(INTERRUPTED)
    if as_json:
        print_json(result)
    else:
        from mp_plugin_megatron.trial.report import print_result

        print_result(result)
    ctx.exit(0 if result["finite"] and result["ranks_agree"] else 1)


def _run(options: Options) -> dict[str, Any]:
    from mp_plugin_megatron.trial.launch import events
    from mp_plugin_megatron.trial.progress import shown

    result: dict[str, Any] = {}
    for event in shown(events(options), options):
        result = event.get("result", result)
    return result
