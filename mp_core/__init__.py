"""Pick a mixed-precision recipe by name, see what it changes, apply it to real configs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mp_core.changes import Change, Home, Origin
    from mp_core.config import MixedPrecisionConfig
    from mp_core.errors import (
        ClassMissing,
        InvalidPrecision,
        MixedPrecisionError,
        PluginError,
        PrecisionConflict,
        PrecisionNotApplied,
        PrecisionRefused,
        RecipeConflict,
        StalePlan,
        TorchMissing,
        UnknownRecipe,
    )
    from mp_core.expression import get_mixed_precision_config
    from mp_core.findings import Advice, Finding, Rule
    from mp_core.hookspecs import hookimpl
    from mp_core.ledger import explicit
    from mp_core.plan import Plan
    from mp_core.planner import make_plan, update_config_with_precision_overrides
    from mp_core.recipes import Recipe, RecipeBook, derive, register
    from mp_core.situation import UNKNOWN, Fact, Situation
    from mp_core.verdicts import check

    MIXED_PRECISION_RECIPES: RecipeBook

#: Public names by the module that holds them: importing mp_core imports none of these.
_HOMES = {
    "changes": ("Change", "Home", "Origin"),
    "config": ("MixedPrecisionConfig",),
    "errors": (
        "ClassMissing",
        "InvalidPrecision",
        "MixedPrecisionError",
        "PluginError",
        "PrecisionConflict",
        "PrecisionNotApplied",
        "PrecisionRefused",
        "RecipeConflict",
        "StalePlan",
        "TorchMissing",
        "UnknownRecipe",
    ),
    "expression": ("get_mixed_precision_config",),
    "findings": ("Advice", "Finding", "Rule"),
    "hookspecs": ("hookimpl",),
    "ledger": ("explicit",),
    "plan": ("Plan",),
    "planner": ("make_plan", "update_config_with_precision_overrides"),
    "recipes": ("Recipe", "RecipeBook", "derive", "register"),
    "situation": ("UNKNOWN", "Fact", "Situation"),
    "verdicts": ("check",),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "MIXED_PRECISION_RECIPES",
    "UNKNOWN",
    "Advice",
    "Change",
    "ClassMissing",
    "Fact",
    "Finding",
    "Home",
    "InvalidPrecision",
    "MixedPrecisionConfig",
    "MixedPrecisionError",
    "Origin",
    "Plan",
    "PluginError",
    "PrecisionConflict",
    "PrecisionNotApplied",
    "PrecisionRefused",
    "Recipe",
    "RecipeBook",
    "RecipeConflict",
    "Rule",
    "Situation",
    "StalePlan",
    "TorchMissing",
    "UnknownRecipe",
    "check",
    "derive",
    "explicit",
    "get_mixed_precision_config",
    "hookimpl",
    "make_plan",
    "register",
    "update_config_with_precision_overrides",
]


def __getattr__(name: str) -> Any:
    if name == "MIXED_PRECISION_RECIPES":
        value: Any = import_module("mp_core.recipes").recipe_book()
    elif name in _MODULES:
        value = getattr(import_module(f"mp_core.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
