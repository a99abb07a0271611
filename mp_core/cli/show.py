"""``mp show``: a recipe's values, their origins, and its advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mp_core.cli.options import json_option, print_json
from mp_core.expression import get_mixed_precision_config, parse
from mp_core.plan import show
from mp_core.plugins import hooks
from mp_core.recipes import Recipe, recipe_book
from mp_core.settings import inactive_because

if TYPE_CHECKING:
    from mp_core.config import MixedPrecisionConfig


@click.command("show")
@click.argument("name")
@click.option("--all", "everything", is_flag=True, help="Also the fields at their default.")
@json_option
def command(name: str, everything: bool, as_json: bool) -> None:
    """Show a recipe's values, where they come from, and advice."""
    config = get_mixed_precision_config(name)
    described = _describe(name, config)
    if as_json:
        print_json(described)
    else:
        _print(described, everything)


def _describe(name: str, config: MixedPrecisionConfig) -> dict[str, Any]:
    offered = recipe_book().get(parse(name)[0])
    source = offered if isinstance(offered, Recipe) else None
    answers = hooks().mp_advice(config=config)
    advice = [each.to_dict() for answer in answers for each in answer]
    return {
        "recipe": config.recipe,
        "distribution": source.distribution if source else None,
        "version": source.version if source else None,
        "fields": [_field(config, field, value) for field, value in config.to_dict().items()],
        "advice": sorted(advice, key=lambda each: str(each["text"])),
    }


def _field(config: MixedPrecisionConfig, field: str, value: Any) -> dict[str, Any]:
    default = type(config).__dataclass_fields__[field].default
    origin = config.origin(field)
    is_default = value == default and not config.is_set(field)
    return {
        "field": field,
        "value": value,
        "origin": "default" if is_default else origin.kind,
        "base": "" if is_default else origin.name,
        "inactive": inactive_because(config, field),
    }


def _print(described: dict[str, Any], everything: bool) -> None:
    from rich.text import Text

    from mp_core.render import page, table

    source = f"{described['distribution']} {described['version']}"
    fields = [f for f in described["fields"] if everything or f["origin"] != "default"]
    with page() as out:
        out.print(Text.assemble((str(described["recipe"]), "bold"), f"  from {source}\n"))
        out.print(table(("field", "value", "origin"), [_cells(field) for field in fields]))
        if not everything:
            out.print(Text("Other fields are at their default: --all shows them.", style="dim"))
        for each in described["advice"]:
            out.print()
            out.print(Text.assemble("• ", each["text"], (f" [{each['source']}]", "dim")))


def _cells(field: dict[str, Any]) -> tuple[str, str, str]:
    origin = f"base {field['base']}" if field["base"] else field["origin"]
    inactive = f" (does nothing: {field['inactive']})" if field["inactive"] else ""
    return field["field"], show(field["value"]), origin + inactive
