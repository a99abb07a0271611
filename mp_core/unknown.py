"""The error for a recipe that is not here: the closest name, and what brings it."""

from __future__ import annotations

from collections.abc import Iterable

from mp_core.catalogue import distribution_of, known_recipes
from mp_core.discovery import RECIPES, find
from mp_core.errors import UnknownRecipe, nearest


def unknown_recipe(name: str, here: Iterable[str]) -> UnknownRecipe:
    """Return the error for *name*, where the names *here* can be had at once."""
    here = set(here)
    off = {e.name.replace("-", "_"): e for e in find().disabled if e.group == RECIPES}
    known = sorted({*here, *off, *known_recipes()})
    meant = name if name in known else nearest(name, known)
    if meant is None:
        return UnknownRecipe(f"no recipe {name!r}; mp list shows the recipes that are installed")
    hint = "" if meant == name else f"; did you mean {meant!r}?"
    if meant in here:
        return UnknownRecipe(f"no recipe {name!r}{hint}")
    if meant in off:
        who = f"{off[meant].distribution} {off[meant].version}"
        where = f"{meant!r} comes from {who}, which the environment switches off"
        return UnknownRecipe(
            f"no recipe {name!r}{hint}\n{where} (MP_PLUGINS, MP_DISABLE_PLUGINS, "
            "MP_PLUGIN_AUTOLOAD)"
        )
    return UnknownRecipe(f"no recipe {name!r}{hint}\n{_brought_by(meant)}")


def _brought_by(recipe: str) -> str:
    distribution = distribution_of(recipe)
    broken = [str(each) for each in find().problems if each.distribution == distribution]
    if broken:
        return "\n".join([f"{recipe!r} comes from {distribution}, which is broken here:", *broken])
    return f"To get {recipe!r}: pip install {distribution}"
