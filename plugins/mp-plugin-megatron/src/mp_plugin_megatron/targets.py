"""Make real Megatron-Core configs from plain field names, as a file gives them."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any

from mp_core import InvalidPrecision, explicit
from mp_core.dtypes import NAMES, torch_dtype
from mp_core.errors import closest
from mp_core.fields import KNOWN
from mp_plugin_megatron.classes import CLASSES, config_class

#: What TransformerConfig demands; layers enough for the first and last ones of any recipe.
REQUIRED = {"num_layers": 64, "hidden_size": 128, "num_attention_heads": 4}


def targets(values: Mapping[str, Any]) -> dict[str, object]:
    """Return a model, an optimizer and a DDP config that hold *values*, by role.

    A name goes to every class that has it; the values count as the user's word. Raises
    InvalidPrecision for a name that no class has.
    """
    with warnings.catch_warnings():
        # Importing Megatron-Core warns of each optional dependency that is absent.
        warnings.simplefilter("ignore")
        fields = {role: _fields(role) for role in CLASSES}
        known = set().union(*fields.values())
        # What a file says of the run beside the configs, such as seq_length, is for checks.
        for name in values.keys() - known - KNOWN:
            message = f"no config of the installed megatron-core has a field {name!r}"
            raise InvalidPrecision(message + closest(name, known))
        return {role: _make(role, values, fields[role]) for role in CLASSES}


def _fields(role: str) -> set[str]:
    return {field.name for field in dataclasses.fields(config_class(role)) if field.init}


def _make(role: str, values: Mapping[str, Any], fields: set[str]) -> object:
    given = {name: _native(name, value) for name, value in values.items() if name in fields}
    required = REQUIRED if role == "model" else {}
    return explicit(config_class(role)(**{**required, **given}), *given)


def _native(name: str, value: Any) -> Any:
    plain = str(value).removeprefix("torch.")
    return torch_dtype(NAMES[plain]) if name.endswith("dtype") and plain in NAMES else value
