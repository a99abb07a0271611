"""Apply a recipe to Megatron-Core's model, optimizer and DDP configs."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from mp_core.appliers import changes_by_name
from mp_core.changes import RULE, Change, Home
from mp_plugin_megatron.classes import CLASSES, config_class, role_of
from mp_plugin_megatron.versions import first_version, installed_version, needs_transformer_engine

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig

#: Megatron's name for a config field, where it has another.
NAMES = {"autocast_enabled": "enable_autocast"}
#: The role of a field that only some versions have; the others are found in the classes.
ROLES = {
    "fp4": "model",
    "fp4_param": "model",
    "fp4_param_gather": "ddp",
    "fp4_recipe": "model",
    "reuse_grad_buf_for_mxfp8_param_ag": "ddp",
}


def changes(config: MixedPrecisionConfig, target: object) -> list[Change] | None:
    """Return what *config* says about *target*, or None where it is not Megatron-Core's."""
    role = role_of(target)
    if role is None:
        return None
    proposed = [_note_derived(change) for change in changes_by_name(config, target, NAMES)]
    if role == "optimizer" and config.fp8 is None and hasattr(target, "fp8_recipe"):
        # With a recipe name here the optimizer takes its FP8 path in a run that has no FP8.
        old = target.fp8_recipe
        proposed.append(
            Change(target, "fp8_recipe", old, None, RULE, "fp8 is off", setting="fp8_recipe")
        )
    return proposed


def _note_derived(change: Change) -> Change:
    """Mark an autocast dtype that Megatron filled in from params_dtype: nobody asked for it."""
    target: Any = change.target
    if change.field != "autocast_dtype":
        return change
    return change._replace(derived=change.old in (None, target.params_dtype))


def validate(target: object) -> list[str] | None:
    """Run Megatron's own validation; a check that needs Transformer Engine is named, not failed."""
    if role_of(target) is None:
        return None
    try:
        getattr(target, "__post_init__", list)()
    except Exception as error:
        if not needs_transformer_engine(error):
            raise
        reason = f"a check of {type(target).__name__} needs Transformer Engine"
        return [f"{reason} ({type(error).__name__}: {error})"]
    return []


def homes(field: str) -> list[Home] | None:
    """Return the Megatron-Core classes that hold config field *field*, now or in later versions."""
    found = []
    for role in CLASSES:
        cls = config_class(role)
        name = NAMES.get(field, field)
        present = name in {each.name for each in dataclasses.fields(cls)}
        if present or ROLES.get(field) == role:
            since = first_version(role, field)
            found.append(Home(role, cls.__name__, present, since, installed_version()))
    return found or None
