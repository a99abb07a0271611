"""What stands in the book of recipes: callables that build a config and answer for it by name."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field

from mp_core.config import MixedPrecisionConfig, name_recipe
from mp_core.discovery import RECIPES, Entry
from mp_core.errors import PluginError, RecipeConflict
from mp_core.loading import load, plugin_error
from mp_core.plugins import hooks

Factory = Callable[[], MixedPrecisionConfig]


@dataclass(frozen=True, order=True)
class Recipe:
    """A recipe that a distribution offers; its plugin is imported when it is called.

    factory: None where metadata offers it, else what the plugin's mp_recipes hook gave.
    """

    name: str
    distribution: str
    version: str
    target: str
    factory: Factory | None = field(default=None, compare=False, repr=False)

    def __call__(self) -> MixedPrecisionConfig:
        """Return a new config; raise PluginError naming the distribution where that fails."""
        entry = Entry(RECIPES, self.name, self.target, self.distribution, self.version)
        return build(self.name, self.factory or load(entry), entry.display)


@dataclass(frozen=True)
class Registered:
    """A recipe that was registered in this process."""

    name: str
    factory: Factory

    def __call__(self) -> MixedPrecisionConfig:
        """Return a new config; raise PluginError naming the function where that fails."""
        where = f"{self.factory.__module__}:{self.factory.__qualname__}"
        return build(self.name, self.factory, f"registered recipe [{self.name} = {where}]")


@dataclass(frozen=True)
class Rivals:
    """One name claimed by several distributions; calling it names them and how to choose."""

    name: str
    recipes: tuple[Recipe, ...]

    def __call__(self) -> MixedPrecisionConfig:
        """Raise RecipeConflict."""
        lines = [f"  {r.distribution} {r.version} [{r.name} = {r.target}]" for r in self.recipes]
        first, *others = (recipe.distribution for recipe in self.recipes)
        ways = [f"{self.name}@{first}", f"MP_PREFER={self.name}={first}"]
        ways += [f"MP_DISABLE_PLUGINS={','.join(others)}"]
        claim = f"recipe {self.name!r} is claimed by {len(lines)} distributions:\n"
        choice = f"\nTo choose {first}, one of: {'  '.join(ways)}"
        raise RecipeConflict(claim + "\n".join(lines) + choice)


def build(name: str, factory: object, who: str) -> MixedPrecisionConfig:
    """Return a new config by *factory*; raise PluginError naming *who* where it misbehaves."""
    from mp_core.recipes import recipe_book

    # The plugins' import, which may register recipes, comes before the look at the book.
    book, relay = recipe_book(), hooks()
    before = dict(book)
    try:
        made = _checked(relay.mp_build_recipe(name=name, factory=factory), book != before)
    except (KeyboardInterrupt, PluginError, RecipeConflict):
        raise
    except BaseException as error:
        raise plugin_error(who, "cannot build its config", error) from error
    finally:
        if book != before:
            book.clear()
            book.update(before)
    # A copy, so that a factory that hands out one shared object cannot be changed through it.
    config = copy.copy(made)
    name_recipe(config, name)
    return config


def _checked(made: object, book_changed: bool) -> MixedPrecisionConfig:
    if book_changed:
        raise TypeError("its factory changes MIXED_PRECISION_RECIPES")
    if not isinstance(made, MixedPrecisionConfig):
        raise TypeError(f"its factory gives a {type(made).__name__}, not a MixedPrecisionConfig")
    return made
