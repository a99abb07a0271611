"""``mp plan``: what a recipe changes in a framework's real configs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from mp_core.cli.options import json_option, print_json
from mp_core.cli.situations import facts_of
from mp_core.errors import PluginError
from mp_core.machine import here
from mp_core.planner import POLICIES, make_plan
from mp_core.plugins import hooks


@click.command("plan")
@click.argument("name")
@click.option(
    "--target",
    type=click.Path(exists=True, dir_okay=False),
    help="Your own values: field names as YAML or JSON, a config.json, or arguments.",
)
@click.option("--on-conflict", type=click.Choice(POLICIES), default="warn", show_default=True)
@json_option
@click.pass_context
def command(
    ctx: click.Context, name: str, target: str | None, on_conflict: str, as_json: bool
) -> None:
    """Show what a recipe changes in the framework's configs; nothing is written."""
    facts = facts_of(target)
    made = _targets({name: fact.value for name, fact in facts.items()})
    # Default configs are nobody's: findings about them would be about no run.
    check = "warn" if target else "off"
    configs = made["model"], made["optimizer"], made["ddp"]
    situation = here(facts)
    plan = make_plan(name, *configs, on_conflict=on_conflict, check=check, situation=situation)
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
