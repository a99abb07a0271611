"""Reading Megatron's per-module precision file: what it takes, and what to type instead."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from mp_core import InvalidPrecision
from mp_core.errors import closest
from mp_plugin_megatron.precision.file import (
    EVALUATION,
    FORMATS,
    FP4_RECIPES,
    FP8_RECIPES,
    PARAMS,
    TRAINING,
    TYPE,
    Entry,
    LayerRecipe,
    Matcher,
    PrecisionFile,
)

#: The legal values of each key; a factory is any text.
LEGAL: dict[str, tuple[object, ...]] = {
    **dict.fromkeys(LayerRecipe._fields, (False, True)),
    "fp8_quantization_recipe": (*FP8_RECIPES, None),
    "fp4_quantization_recipe": (*FP4_RECIPES, None),
    "fp8_format": FORMATS,
}


def read(path: str | PathLike[str]) -> PrecisionFile:
    """Return the file at *path*; raises InvalidPrecision for what Megatron would not take."""
    file = Path(path)
    try:
        return parse(file.name, file.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"{file.name} cannot be read: {error.strerror}; write one with mp precision-file"
        raise InvalidPrecision(message) from error
    except UnicodeDecodeError as error:
        raise InvalidPrecision(f"{file.name} is binary, or no UTF-8; legal: YAML") from error


def parse(name: str, text: str) -> PrecisionFile:
    """Return what the text of the file called *name* says; raises as read()."""
    try:
        loaded = _section("the file", _loaded(text), ("configs", "matchers"))
        configs = {k: _entry(f"configs.{k}", v) for k, v in _named("configs", loaded)}
        matchers = [_matcher(k, v, configs) for k, v in _named("matchers", loaded)]
    except InvalidPrecision as error:
        raise InvalidPrecision(f"{name}: {error}") from error.__cause__
    return PrecisionFile(name, configs, tuple(matchers))


def _loaded(text: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        message = f"it is not YAML: {error}; legal: the sections configs and matchers"
        raise InvalidPrecision(message) from error


def _section(
    place: str, value: object, needed: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return a mapping that has every key of *needed*, and no key that is unknown."""
    known = (*needed, *optional)
    if not isinstance(value, dict):
        raise InvalidPrecision(f"{place} is {value!r}; legal: a mapping with {', '.join(known)}")
    for key in value:
        if key not in known:
            message = f"{place} has no key {key!r}{closest(str(key), known)}"
            raise InvalidPrecision(f"{message}; legal: {', '.join(known)}")
    for key in needed:
        if key not in value:
            raise InvalidPrecision(f"{place} lacks {key!r}; add it")
    return value


def _named(section: str, loaded: Mapping[str, Any]) -> list[tuple[str, object]]:
    values = loaded[section]
    if not isinstance(values, dict) or not values:
        raise InvalidPrecision(f"{section} is {values!r}; legal: a mapping of one name or more")
    return [(str(name), value) for name, value in values.items()]


def _entry(place: str, value: object) -> Entry:
    stored = _section(place, value, (TYPE, TRAINING), (EVALUATION,))
    if stored[TYPE] != PARAMS:
        raise InvalidPrecision(f"{place}.{TYPE} is {stored[TYPE]!r}; legal: {PARAMS}")
    training = _layer(f"{place}.{TRAINING}", stored[TRAINING])
    if EVALUATION not in stored:
        return Entry(training)
    return Entry(training, _layer(f"{place}.{EVALUATION}", stored[EVALUATION]))


def _layer(place: str, value: object) -> LayerRecipe:
    stored = _section(place, value, (), LayerRecipe._fields)
    for key, given in stored.items():
        _check(f"{place}.{key}", key, given)
    layer = LayerRecipe(**stored)
    kinds = (layer.fp8_quantization_recipe, layer.fp4_quantization_recipe)
    if all(kinds):
        raise InvalidPrecision(f"{place} has both FP8 and FP4: take one of them out")
    if "custom" in kinds and not layer.custom_recipe_factory:
        raise InvalidPrecision(f"{place} is custom; add custom_recipe_factory: module.function")
    return layer


def _check(place: str, key: str, value: object) -> None:
    if key == "custom_recipe_factory":
        if not isinstance(value, str):
            raise InvalidPrecision(f"{place} is {value!r}; legal: text such as module.function")
        return
    if key == "fp8_quantization_recipe" and value == "delayed":
        message = f"{place} is 'delayed', which Megatron refuses in this file"
        raise InvalidPrecision(f"{message}; write tensorwise")
    # 1 equals True, but Megatron's own field is a bool.
    if (type(value), value) not in [(type(each), each) for each in LEGAL[key]]:
        texts = [each for each in LEGAL[key] if isinstance(each, str)]
        words = ", ".join("null" if each is None else str(each).lower() for each in LEGAL[key])
        raise InvalidPrecision(f"{place} is {value!r}{closest(str(value), texts)}; legal: {words}")


def _matcher(name: str, value: object, configs: Mapping[str, Entry]) -> Matcher:
    place = f"matchers.{name}"
    stored = _section(place, value, ("config", "type", "pattern"), ("enabled",))
    if stored["type"] != "glob":
        raise InvalidPrecision(f"{place}.type is {stored['type']!r}; legal: glob")
    if not isinstance(stored["pattern"], str) or not stored["pattern"]:
        raise InvalidPrecision(f"{place}.pattern is {stored['pattern']!r}; legal: text like *fc2")
    enabled, config = stored.get("enabled"), str(stored["config"])
    if "enabled" in stored and not isinstance(enabled, bool):
        raise InvalidPrecision(f"{place}.enabled is {enabled!r}; legal: true, false")
    if config not in configs:
        message = f"{place} names no config of the file: {config!r}{closest(config, configs)}"
        raise InvalidPrecision(f"{message}; legal: {', '.join(sorted(configs))}")
    return Matcher(name, config, stored["pattern"], enabled)
