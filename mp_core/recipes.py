"""The recipes by name: static ones from metadata, registered ones, and those of hooks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeVar

from mp_core.building import Factory, Recipe, Registered, Rivals, build
from mp_core.config import MixedPrecisionConfig, check_pairs, name_base
from mp_core.discovery import NAME, RECIPES, find
from mp_core.errors import InvalidPrecision, RecipeConflict, UnknownRecipe
from mp_core.metadata import canonical
from mp_core.plugins import hooks
from mp_core.unknown import unknown_recipe

__all__ = [
    "Recipe",
    "RecipeBook",
    "Rivals",
    "derive",
    "normal",
    "recipe_book",
    "register",
    "resolve",
    "runtime_recipes",
]

F = TypeVar("F", bound=Factory)


class RecipeBook(dict[str, Factory]):
    """Factories by recipe name; ``-`` reads as ``_``, and ``name@distribution`` names a rival."""

    def __missing__(self, name: str) -> Factory:
        plain, at, distribution = name.partition("@")
        plain = normal(plain)
        if at:
            return self._qualified(plain, canonical(distribution))
        if plain in self:
            return self[plain]
        runtime = runtime_recipes()
        if plain in runtime:
            return runtime[plain]
        raise unknown_recipe(plain, [*self, *runtime])

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and super().__contains__(normal(name))

    def __setitem__(self, name: str, factory: Factory) -> None:
        super().__setitem__(normal(name), factory)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the factory of *name*, or *default* where there is none."""
        try:
            return self[name]
        except UnknownRecipe:
            return default

    def _qualified(self, name: str, distribution: str) -> Factory:
        offered = _offered(super().get(name))
        if distribution not in [recipe.distribution for recipe in offered]:
            offered += _offered(runtime_recipes().get(name))
        for recipe in offered:
            if recipe.distribution == distribution:
                return recipe
        if name not in self and not offered:
            raise unknown_recipe(name, self)
        has = [recipe.distribution for recipe in offered]
        there = f"; it comes from {', '.join(sorted(has))}" if has else ""
        raise UnknownRecipe(f"{distribution} has no recipe {name!r} here{there}")


def _offered(found: object) -> tuple[Recipe, ...]:
    if isinstance(found, Rivals):
        return found.recipes
    return (found,) if isinstance(found, Recipe) else ()


def normal(name: str) -> str:
    """Return *name* as it is held: ``-`` and ``_`` are the same."""
    return name.replace("-", "_")


@cache
def recipe_book() -> RecipeBook:
    """Return this process's recipes, filled from metadata without importing a plugin."""
    entries = find().group(RECIPES)
    return RecipeBook(
        _by_name(Recipe(normal(e.name), e.distribution, e.version, e.target) for e in entries)
    )


def runtime_recipes() -> dict[str, Factory]:
    """Return what the plugins' mp_recipes hooks offer, by name; this imports the plugins."""
    offers = [offer for offered in hooks().mp_recipes() for offer in offered]
    return _by_name(
        Recipe(normal(e.name), e.distribution, e.version, e.target, factory)
        for e, factory in offers
    )


def _by_name(recipes: Iterable[Recipe]) -> dict[str, Factory]:
    """Return each name's one recipe, or the one that MP_PREFER names, or the rivals."""
    offers: dict[str, list[Recipe]] = {}
    for recipe in sorted(recipes):
        offers.setdefault(recipe.name, []).append(recipe)
    preferred = _preferred()
    book: dict[str, Factory] = {}
    for name, rivals in offers.items():
        chosen = [r for r in rivals if len(rivals) == 1 or r.distribution == preferred.get(name)]
        book[name] = chosen[0] if chosen else Rivals(name, tuple(rivals))
    return book


def _preferred() -> dict[str, str]:
    items = (item.partition("=") for item in os.environ.get("MP_PREFER", "").split(","))
    return {normal(name.strip()): canonical(distribution) for name, _, distribution in items}


def register(factory: F) -> F:
    """Make *factory* a recipe under its own name and return it, as a decorator does.

    Raises RecipeConflict when another factory has the name, and InvalidPrecision when its own
    is not the name of a function.
    """
    name = normal(getattr(factory, "__name__", repr(factory)))
    if not NAME.fullmatch(name) or not callable(factory):
        raise InvalidPrecision(f"{name!r} cannot be a recipe's name: register a named function")
    book = recipe_book()
    if name not in book:
        book[name] = Registered(name, factory)
    elif not _is_same(book[name], factory):
        who = ", ".join(each.distribution for each in _offered(book[name]))
        source = who or "an earlier register()"
        raise RecipeConflict(f"recipe {name!r} exists already, from {source}; choose another name")
    return factory


def _is_same(existing: Factory, factory: Factory) -> bool:
    """Return whether *existing* is *factory*, be it as the entry point that names it."""
    target = f"{factory.__module__}:{factory.__qualname__}"
    targets = [each.target for each in _offered(existing)]
    return getattr(existing, "factory", existing) is factory or target in targets


def derive(base: str, **values: object) -> MixedPrecisionConfig:
    """Return the config of recipe *base* with *values* set, each value keeping its origin."""
    check_pairs(values)
    config = resolve(base)
    name_base(config, config.recipe or normal(base))
    for name, value in values.items():
        setattr(config, name, value)
    return config


def resolve(name: str) -> MixedPrecisionConfig:
    """Return a new config of the recipe *name*, which is not an expression."""
    factory = recipe_book()[name]
    if isinstance(factory, (Recipe, Registered, Rivals)):
        return factory()
    return build(normal(name), factory, f"recipe {name}, put into MIXED_PRECISION_RECIPES here,")
