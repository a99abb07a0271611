"""``mp te-recipe``: a recipe as Transformer Engine's recipe object, in code to paste."""

from __future__ import annotations

from typing import Any

import click

from mp_core.calls import Member
from mp_core.cli.options import json_option, print_json
from mp_core.cli.situations import situation_from, situation_options
from mp_core.expression import get_mixed_precision_config
from mp_core.recipe_calls import recipe_call


@click.command("te-recipe")
@click.argument("name")
@situation_options
@json_option
def command(name: str, as_json: bool, **options: Any) -> None:
    """Print recipe NAME as code that makes Transformer Engine's recipe object.

    The fields are those of the version that --te gives, or of the installed one; a setting that
    it lacks is refused by name.
    """
    call = recipe_call(get_mixed_precision_config(name), situation_from(options))
    if call is None:
        code = f"# {name} computes in 16 or 32 bits: it has no recipe object\n"
    else:
        code = call.code()
    if not as_json:
        click.echo(code, nl=False)
        return
    arguments = dict(call.arguments) if call else {}
    plain = {k: repr(v) if isinstance(v, Member) else v for k, v in arguments.items()}
    rows = {"module": call.module, "class": call.name, "arguments": plain} if call else None
    print_json({"recipe": name, "call": rows, "code": code})
