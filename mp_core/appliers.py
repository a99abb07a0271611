"""For plugins that apply a recipe: the changes that follow from field names alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mp_core.changes import Change
from mp_core.dtypes import torch_dtype
from mp_core.settings import settings

if TYPE_CHECKING:
    from mp_core.config import MixedPrecisionConfig


def changes_by_name(
    config: MixedPrecisionConfig, target: object, names: Mapping[str, str] | None = None
) -> list[Change]:
    """Return a change for each opinion of *config* that *target* has an attribute for.

    names: the target's name for a config field, where it has another. Nothing is changed.
    """
    names = names or {}
    proposed = []
    for setting in settings(config):
        field = names.get(setting.field, setting.field)
        if hasattr(target, field):
            old, new = getattr(target, field), _native(config, setting.field, setting.value)
            change = Change(target, field, old, new, setting.origin, setting.reason, setting.field)
            proposed.append(change)
    return proposed


def _native(config: MixedPrecisionConfig, field: str, value: Any) -> Any:
    is_dtype = type(config).__dataclass_fields__[field].type == "DtypeField"
    return torch_dtype(value) if is_dtype else value
