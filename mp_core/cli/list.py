"""``mp list``: names, distributions, versions and conflicts, from metadata alone."""

from __future__ import annotations

from typing import Any

import click

from mp_core.cli.options import json_option, print_json
from mp_core.discovery import RECIPES, find
from mp_core.recipes import Recipe, Rivals, normal, recipe_book, runtime_recipes


@click.command("list")
@click.option("--runtime", is_flag=True, help="Also ask the plugins' hooks; this imports them.")
@json_option
def command(runtime: bool, as_json: bool) -> None:
    """List the installed recipes, without importing any."""
    listing = _listing(runtime)
    if as_json:
        print_json(listing)
    else:
        _print(listing)


def _listing(runtime: bool) -> dict[str, Any]:
    rows = [row for name in sorted(recipe_book()) for row in _rows(name)]
    rows += [
        _row(name, "", "", "at run time") for name in sorted(runtime_recipes() if runtime else ())
    ]
    found = find()
    off = [entry for entry in found.disabled if entry.group == RECIPES]
    return {
        "recipes": rows,
        "problems": [problem._asdict() for problem in found.problems],
        "disabled": [_row(normal(e.name), e.distribution, e.version, e.target) for e in off],
    }


def _row(name: str, distribution: str, version: str, target: str, **more: Any) -> dict[str, Any]:
    row = {"name": name, "distribution": distribution, "version": version, "target": target}
    return {**row, "same_as": None, "conflict": False, **more}


def _rows(name: str) -> list[dict[str, Any]]:
    offered = recipe_book()[name]
    if isinstance(offered, Rivals):
        return [_described(recipe, conflict=True) for recipe in offered.recipes]
    return [_described(offered)] if isinstance(offered, Recipe) else []


def _described(recipe: Recipe, *, conflict: bool = False) -> dict[str, Any]:
    function = recipe.target.rpartition(":")[2]
    same = function if function != recipe.name and function in recipe_book() else None
    more = {"same_as": same, "conflict": conflict}
    return _row(recipe.name, recipe.distribution, recipe.version, recipe.target, **more)


def _print(listing: dict[str, Any]) -> None:
    from rich.text import Text

    from mp_core.render import page, table

    rows = listing["recipes"]
    cells = [(row["name"], row["distribution"], row["version"]) for row in rows]
    remarks = _remarks(listing)
    with page() as out:
        if rows:
            out.print(table(("recipe", "distribution", "version"), cells))
        else:
            out.print("no recipe is installed; a first one: pip install mp-plugin-half")
        out.print(Text("\n".join(["", *remarks])))


def _remarks(listing: dict[str, Any]) -> list[str]:
    rows = listing["recipes"]
    same = [f"{r['name']} is another name of {r['same_as']}" for r in rows if r["same_as"]]
    rivals = sorted({row["name"] for row in rows if row["conflict"]})
    return [
        *same,
        *(f"conflict: {name} has several distributions; choose {name}@DIST" for name in rivals),
        *(f"off: {row['name']} of {row['distribution']}" for row in listing["disabled"]),
        *(f"problem: {_problem(problem)}" for problem in listing["problems"]),
    ]


def _problem(problem: dict[str, str]) -> str:
    who = " ".join(filter(None, (problem["distribution"], problem["version"])))
    return f"{who} {problem['entry_point']}: {problem['cause']}".replace(" :", ":")
