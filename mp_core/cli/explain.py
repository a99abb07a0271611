"""``mp explain``: why a rule or a field exists, and what follows."""

from __future__ import annotations

from typing import Any

import click

from mp_core.cli.options import json_option, print_json
from mp_core.config import MixedPrecisionConfig
from mp_core.errors import InvalidPrecision, closest
from mp_core.expression import get_mixed_precision_config
from mp_core.meanings import MEANINGS
from mp_core.plugins import aliases, hooks
from mp_core.recipes import recipe_book
from mp_core.settings import NEEDS
from mp_core.verdicts import rules


@click.command("explain")
@click.argument("what", metavar="CODE|FIELD")
@json_option
def command(what: str, as_json: bool) -> None:
    """Explain a finding's code or a config's field."""
    told = _explained(what.strip())
    if as_json:
        print_json(told)
        return
    from rich.text import Text

    from mp_core.render import page

    with page() as out:
        for heading, lines in told.items():
            for line in lines if isinstance(lines, list) else [lines]:
                out.print(Text.assemble((f"{heading}: ", "bold"), str(line)))


def _explained(what: str) -> dict[str, Any]:
    known, field = rules(), aliases().get(what, what).replace("-", "_")
    if what.upper() in known:
        return known[what.upper()]._asdict()
    if field in MEANINGS:
        return _field(field)
    hint = closest(what, [*known, *MEANINGS])
    raise InvalidPrecision(f"{what!r} is neither a code nor a field here{hint}")


def _field(field: str) -> dict[str, Any]:
    configs = {name: get_mixed_precision_config(name) for name in sorted(recipe_book())}
    said = [(n, c.to_dict()[field]) for n, c in configs.items() if c.is_set(field)]
    advice = {
        f"{each.text} [{each.source}]"
        for config in configs.values()
        for answer in hooks().mp_advice(config=config)
        for each in answer
        if field in each.fields
    }
    return {
        "field": field,
        "meaning": MEANINGS[field],
        "default": str(MixedPrecisionConfig.__dataclass_fields__[field].default),
        "does nothing where": [reason for fields, _, reason in NEEDS if field in fields],
        "set by": [f"{name}: {value}" for name, value in said],
        "advice": sorted(advice),
    }
