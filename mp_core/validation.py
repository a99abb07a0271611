"""What is legal in a config: types, ranges, combinations, and the plugins' vocabulary."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from mp_core.errors import InvalidPrecision, closest
from mp_core.settings import LAYER_KNOBS, MODE_DTYPES, REUSE

if TYPE_CHECKING:
    from mp_core.config import MixedPrecisionConfig

#: Python types by annotation; other annotations belong to subclasses and are theirs to check.
TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "bool | None": (bool, type(None)),
    "int": (int,),
    "float": (int, float),
    "float | None": (int, float, type(None)),
    "str": (str,),
    "str | None": (str, type(None)),
}
#: The smallest legal value of a number.
AT_LEAST = {
    "fp8_amax_history_len": 1,
    "loss_scale_window": 1,
    "hysteresis": 1,
    **dict.fromkeys(LAYER_KNOBS, 0),
}
POSITIVE = ("loss_scale", "initial_loss_scale", "min_loss_scale")


def validate(config: MixedPrecisionConfig) -> None:
    """Raise InvalidPrecision with a line for each thing that is wrong with *config*."""
    stored = config.to_dict()
    problems = list(_type_problems(type(config), stored))
    if not problems:
        problems = [
            *_range_problems(stored),
            *_combinations(config, stored),
            *_words(type(config), stored),
        ]
    if problems:
        who = config.recipe or type(config).__name__
        raise InvalidPrecision("\n".join(f"{who}: {problem}" for problem in problems))


@cache
def _checked_types(cls: Any) -> tuple[tuple[str, tuple[type, ...]], ...]:
    fields = dataclasses.fields(cls)
    return tuple((f.name, TYPES[str(f.type)]) for f in fields if str(f.type) in TYPES)


def _type_problems(cls: Any, stored: dict[str, Any]) -> Iterator[str]:
    for name, types in _checked_types(cls):
        value = stored[name]
        if type(value) in types:
            continue
        if not isinstance(value, types) or isinstance(value, bool):
            wanted = " or ".join("None" if t is type(None) else t.__name__ for t in types)
            yield f"{name}={value!r} is a {type(value).__name__}; legal: {wanted}"


def _range_problems(stored: dict[str, Any]) -> Iterator[str]:
    for name, least in AT_LEAST.items():
        if not stored[name] >= least:
            yield f"{name}={stored[name]!r}; legal: at least {least}"
    for name in POSITIVE:
        value = stored[name]
        if value is not None and not (value > 0 and math.isfinite(value)):
            yield f"{name}={value!r}; legal: a positive number"
    initial, least = stored["initial_loss_scale"], stored["min_loss_scale"]
    if initial is not None and initial < least:
        yield f"initial_loss_scale={initial!r} is below min_loss_scale={least!r}"


def _combinations(config: MixedPrecisionConfig, stored: dict[str, Any]) -> Iterator[str]:
    flags = [name for name in MODE_DTYPES if stored[name]]
    if len(flags) > 1:
        yield " and ".join(f"{flag}=True" for flag in flags) + ": a run has one base mode"
    dtype = stored["params_dtype"]
    if len(flags) == 1 and dtype not in (None, "float32", MODE_DTYPES[flags[0]]):
        yield f"{flags[0]}=True with params_dtype={dtype!r}; legal: {MODE_DTYPES[flags[0]]!r}"
    if config.fp8 and config.fp4:
        yield f"fp8={config.fp8!r} and fp4={config.fp4!r}: a run quantizes to one of them"
    counts = [stored[name] for name in LAYER_KNOBS]
    if config.first_last_layers_bf16 and (config.fp8 or config.fp4) and not any(counts):
        yield f"first_last_layers_bf16=True protects no layer: {' and '.join(LAYER_KNOBS)} are 0"
    reuse = config.origin(REUSE).kind == "override" and stored[REUSE]
    if reuse and config.fp8 and not config.fp8_param_gather:
        yield f"{REUSE}=True needs fp8_param_gather=True: it serves the parameter all-gather"


@cache
def _word_defaults(cls: Any) -> dict[str, Any]:
    return {f.name: f.default for f in dataclasses.fields(cls) if str(f.type).startswith("str")}


def _words(cls: Any, stored: dict[str, Any]) -> Iterator[str]:
    """Check strings that are not their field's default against what installed plugins know."""
    defaults = _word_defaults(cls)
    unusual = {n: stored[n] for n, word in defaults.items() if stored[n] not in (word, None)}
    if not unusual:
        return
    from mp_core.config import MixedPrecisionConfig
    from mp_core.plugins import vocabulary

    words = vocabulary()
    for name, value in unusual.items():
        legal = words.get(name, {})
        own = name in MixedPrecisionConfig.__dataclass_fields__
        if value not in legal and (own or legal):
            yield _unknown_word(name, value, defaults[name], legal)


def _unknown_word(name: str, value: str, default: object, legal: dict[str, str]) -> str:
    known = [f"{word!r} ({meaning})" if meaning else repr(word) for word, meaning in legal.items()]
    if default is not None and default not in legal:
        known.append(repr(default))
    where = "; legal with the installed plugins: " + (", ".join(known) or "nothing but None")
    hint = "" if known else " (a plugin brings the values: mp list shows the recipes installed)"
    return f"{name}={value!r}{closest(value, legal)}{where}{hint}"
