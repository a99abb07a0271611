"""Every recipe, under both name sets, has the published values; data/recipes.json holds them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from mp_core import MIXED_PRECISION_RECIPES, MixedPrecisionConfig, Recipe
from mp_core.catalogue import distribution_of, known_recipes

FACTS = json.loads((Path(__file__).parent.parent / "data" / "recipes.json").read_text())
FIELDS = {field["name"]: field for field in (*FACTS["fields_seed"], *FACTS["fields_added_later"])}
OLDER: dict[str, str] = FACTS["names_in_the_seed"]
#: The facts of each recipe by name, an older name having those of today's.
RECIPES: dict[str, dict[str, Any]] = FACTS["recipes"] | {
    older: FACTS["recipes"][today] for older, today in OLDER.items()
}


def expected(name: str) -> dict[str, Any]:
    """Return every field's value in recipe *name*: what it sets, else the field's default."""
    defaults = {field: fact["default"] for field, fact in FIELDS.items()}
    values: dict[str, Any] = defaults | RECIPES[name]["sets"]
    return values


def test_the_config_has_exactly_these_fields_and_defaults() -> None:
    assert MixedPrecisionConfig().to_dict() == {n: f["default"] for n, f in FIELDS.items()}


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_field_has_the_published_type(name: str) -> None:
    types = {field.name: str(field.type) for field in dataclasses.fields(MixedPrecisionConfig)}
    published = FIELDS[name]["type"].replace("torch.dtype | None", "DtypeField")
    assert types[name] == published


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_every_field_of_the_recipe_equals_the_facts(name: str) -> None:
    assert MIXED_PRECISION_RECIPES[name]().to_dict() == expected(name)


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_the_recipe_comes_from_its_distribution(name: str) -> None:
    recipe = MIXED_PRECISION_RECIPES[name]
    assert isinstance(recipe, Recipe)
    assert recipe.distribution == RECIPES[name]["distribution"]


@pytest.mark.parametrize("name", sorted(n for n in RECIPES if RECIPES[n]["base"]))
def test_the_recipe_names_its_base_as_the_origin_of_inherited_values(name: str) -> None:
    assert str(MIXED_PRECISION_RECIPES[name]().origin("bf16")) == f"base {RECIPES[name]['base']}"


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_no_value_of_a_recipe_is_taken_for_an_override(name: str) -> None:
    config = MIXED_PRECISION_RECIPES[name]()
    assert not [field for field in FIELDS if config.origin(field).kind == "override"]


@pytest.mark.parametrize("older", sorted(OLDER))
def test_an_older_name_gives_the_values_of_todays(older: str) -> None:
    today = MIXED_PRECISION_RECIPES[OLDER[older]]()
    assert MIXED_PRECISION_RECIPES[older]().to_dict() == today.to_dict()


def test_the_catalogue_that_errors_quote_agrees_with_the_facts() -> None:
    assert known_recipes() == sorted(RECIPES)
    assert {n: distribution_of(n) for n in RECIPES} == {
        n: facts["distribution"] for n, facts in RECIPES.items()
    }
