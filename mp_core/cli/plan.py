"""``mp plan``: what a recipe changes in a framework's real configs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from mp_core.cli.options import json_option, print_json
from mp_core.errors import InvalidPrecision, PluginError
from mp_core.planner import POLICIES, make_plan
from mp_core.plugins import hooks


@click.command("plan")
@click.argument("name")
@click.option(
    "--target",
    type=click.Path(exists=True, dir_okay=False),
    help="YAML or JSON with the framework's own field names; its values count as yours.",
)
@click.option("--on-conflict", type=click.Choice(POLICIES), default="warn", show_default=True)
@json_option
@click.pass_context
def command(
    ctx: click.Context, name: str, target: str | None, on_conflict: str, as_json: bool
) -> None:
    """Show what a recipe changes in the framework's configs; nothing is written."""
    made = _targets(read_target(target) if target else {})
    # Default configs are nobody's: findings about them would be about no run.
    check = "warn" if target else "off"
    plan = make_plan(
        name, made["model"], made["optimizer"], made["ddp"], on_conflict=on_conflict, check=check
    )
    if as_json:
        print_json(plan.to_dict())
    else:
        from mp_core.render import page, print_plan

        with page() as out:
            title = f"{plan.recipe} on {target or 'default configs'}"
            out.print(title, style="bold", markup=False)
            print_plan(plan, out)
    if any(finding.severity == "error" for finding in plan.findings):
        ctx.exit(1)


def _targets(values: Mapping[str, Any]) -> Mapping[str, object]:
    made: Mapping[str, object] | None = hooks().mp_targets(values=values)
    if made is None:
        message = "no installed plugin makes configs to plan on"
        raise PluginError(f"{message}: pip install mp-plugin-megatron")
    return made


def read_target(path: str) -> dict[str, Any]:
    """Return the field names and values of a YAML or JSON file, or raise InvalidPrecision."""
    import yaml

    try:
        values = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InvalidPrecision(f"{path} is not YAML or JSON: {error}") from error
    if not isinstance(values, dict):
        raise InvalidPrecision(f"{path} holds no mapping of field names to values")
    return {str(name): value for name, value in values.items()}
