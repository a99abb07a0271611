"""The ``mp`` command: one module a verb, loaded when it is typed."""

from __future__ import annotations

import logging
from typing import Any

import click

from mp_core.discovery import COMMANDS, Entry, find
from mp_core.errors import InvalidPrecision, MixedPrecisionError, UnknownRecipe
from mp_core.loading import load

#: Core's verbs by name: their one-line help, so that ``mp --help`` imports none of them.
VERBS = {
    "check": "Check whether a recipe can run somewhere, and what stands against it.",
    "diff": "Show where two recipes differ.",
    "doctor": "Show what is installed and detected here, what is broken, and what runs.",
    "explain": "Explain a finding's code or a config's field.",
    "list": "List the installed recipes, without importing any.",
    "matrix": "Show which recipe runs on which GPU, for given versions.",
    "memory": "Show what recipes cost in memory, for a model and layout.",
    "plan": "Show what a recipe changes in the framework's configs.",
    "te-recipe": "Print a recipe as Transformer Engine's recipe object, in code to paste.",
    "show": "Show a recipe's values, where they come from, and advice.",
}
USAGE, FAILED = 2, 1


class Verbs(click.Group):
    """Core's verbs and those of installed plugins, found in metadata."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every verb's name, sorted."""
        return sorted({*VERBS, *_plugin_verbs()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one verb."""
        module = cmd_name.replace("-", "_")
        if cmd_name in VERBS:
            entry = Entry(COMMANDS, cmd_name, f"mp_core.cli.{module}:command", "mp-core", "")
        elif cmd_name in _plugin_verbs():
            entry = _plugin_verbs()[cmd_name]
        else:
            return None
        loaded: Any = load(entry)
        return loaded  # type: ignore[no-any-return] # whatever the plugin offers as its command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs' help without loading them."""
        plugins = {name: f"(from {e.distribution})" for name, e in _plugin_verbs().items()}
        with formatter.section("Commands"):
            formatter.write_dl(sorted({**plugins, **VERBS}.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; an error of mp-core is one message and an exit status, not a traceback."""
        try:
            return super().invoke(ctx)
        except MixedPrecisionError as error:
            click.echo(f"mp: {error}", err=True)
            ctx.exit(USAGE if isinstance(error, (UnknownRecipe, InvalidPrecision)) else FAILED)


def _plugin_verbs() -> dict[str, Entry]:
    return {entry.name: entry for entry in find().group(COMMANDS)}


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="mp-core")
def main() -> None:
    """Pick a mixed-precision recipe by name, see what it changes, apply it, train.

    NAME is a recipe such as bf16_mixed, with overrides if you like:
    "bf16_mixed:grad_reduce_in_fp32=false". Every command has --json.
    """
    logging.basicConfig(format="mp: %(message)s", level=logging.WARNING)
