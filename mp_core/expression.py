"""Names with overrides: ``recipe:field=value,...``, keywords and mappings mean the same."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from mp_core.config import MixedPrecisionConfig
from mp_core.dtypes import dtype_name
from mp_core.errors import InvalidPrecision, UnknownRecipe, closest
from mp_core.recipes import normal, resolve

BOOLEANS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
NOTHING = ("none", "null", "")
OPTIONAL = re.compile(r"(?:typing\.)?Optional\[(.*)\]|(.*?) *\| *None")

RecipeLike = str | Mapping[str, Any] | MixedPrecisionConfig
Asked = list[tuple[str, Any]]


def get_mixed_precision_config(
    name: RecipeLike, *, situation: Any = None, **overrides: object
) -> MixedPrecisionConfig:
    """Return the validated config that *name* and *overrides* ask for.

    name: ``"bf16_mixed"``, ``"bf16_mixed:fp8_margin=1"``, ``{"recipe": "bf16_mixed", ...}``, or a
    config, which is returned as it is unless overrides are given. situation: as mp_core.check
    takes; its findings are logged, a line each. Raises UnknownRecipe,
    RecipeConflict or InvalidPrecision (all ValueError) and PluginError.
    """
    config, asked = _start(name)
    asked += overrides.items()
    if asked:
        config = config.replace(**_values(config, asked))
    config.validate()
    if situation is not None:
        from mp_core.plan import report_findings
        from mp_core.verdicts import check

        report_findings(config.recipe or type(config).__name__, check(config, situation))
    return config


def _start(name: RecipeLike) -> tuple[MixedPrecisionConfig, Asked]:
    if isinstance(name, MixedPrecisionConfig):
        return name, []
    if isinstance(name, str):
        recipe, written = parse(name)
        return resolve(recipe), list(written.items())
    if not isinstance(name, Mapping):
        raise UnknownRecipe(f"a recipe is a name, a mapping or a config, not {name!r}")
    if "recipe" not in name:
        raise UnknownRecipe(f"the mapping has no 'recipe' key; it has {sorted(map(str, name))}")
    config, asked = _start(name["recipe"])
    return config, asked + [(str(key), name[key]) for key in name if key != "recipe"]


def parse(expression: str) -> tuple[str, dict[str, Any]]:
    """Split ``recipe:field=value,...`` into the recipe's name and the values as written."""
    name, colon, rest = (part.strip() for part in expression.partition(":"))
    asked: dict[str, Any] = {}
    for item in rest.split(",") if colon else ():
        field, equals, value = (part.strip() for part in item.partition("="))
        if not equals or not field:
            message = f"{item.strip()!r} in {expression!r} is not of the form field=value"
            raise InvalidPrecision(f"{message}: write for example {name}:fp8_margin=1")
        if asked.setdefault(field, value) != value:
            raise InvalidPrecision(f"{field} is given twice in {expression!r}")
    return name, asked


def _values(config: MixedPrecisionConfig, asked: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the values of *asked*, each by its field's name and as its field's type."""
    fields = {field.name: field for field in dataclasses.fields(config)}
    values: dict[str, Any] = {}
    for name, written in asked:
        plain = normal(name)
        field = plain if plain in fields else _unaliased(plain, fields)
        value = _typed(fields[field], written)
        if field in values and values[field] != value:
            both = f"{values[field]!r} and {value!r}"
            raise InvalidPrecision(f"{field} is given twice and different: {both}")
        values[field] = value
    return values


def _unaliased(name: str, fields: Mapping[str, object]) -> str:
    from mp_core.plugins import aliases

    field = aliases().get(name, name)
    if field not in fields:
        raise InvalidPrecision(f"no field {name!r}{closest(name, fields)}")
    return field


def _typed(field: dataclasses.Field[Any], value: object) -> object:
    """Return *value* as its field's type when it is written as a string, a dtype by name."""
    kind = field.type if isinstance(field.type, str) else _written(field.type)
    optional = OPTIONAL.fullmatch(kind)
    plain = str(optional[1] or optional[2]) if optional else kind
    if isinstance(value, str) and value.lower() in NOTHING and (optional or "DtypeField" in kind):
        return None
    try:
        if "DtypeField" in kind:
            return dtype_name(value)  # type: ignore[arg-type] # it says what it cannot take
        return _parsed(plain, value) if isinstance(value, str) else value
    except InvalidPrecision as error:
        raise InvalidPrecision(f"{field.name}: {error}") from None
    except (KeyError, ValueError):
        legal = "true or false" if plain == "bool" else plain
        raise InvalidPrecision(f"{field.name}={value!r} is not {legal}") from None


def _written(kind: object) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)


def _parsed(kind: str, value: str) -> object:
    if kind == "bool":
        return BOOLEANS[value.lower()]
    if kind == "int":
        return int(value)
    return float(value) if kind == "float" else value
