"""What this plugin does for mp-core."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mp_core import hookimpl

if TYPE_CHECKING:
    from mp_core import Change, Finding, Home, MixedPrecisionConfig, Rule, Situation

#: Names that Megatron-LM's arguments and the frameworks on top of it give to a config field.
ALIASES = {
    "accumulate_allreduce_grads_in_fp32": "grad_reduce_in_fp32",
    "enable_autocast": "autocast_enabled",
    "fp4_format": "fp4",
    "fp8_format": "fp8",
}


@hookimpl
def mp_aliases() -> Mapping[str, str]:
    """Return the other names of config fields."""
    return ALIASES


@hookimpl
def mp_apply(config: MixedPrecisionConfig, target: object) -> list[Change] | None:
    """Propose changes to a Megatron-Core config."""
    from mp_plugin_megatron.apply import changes

    return changes(config, target)


@hookimpl
def mp_validate(target: object) -> list[str] | None:
    """Run a Megatron-Core config's own validation."""
    from mp_plugin_megatron.apply import validate

    return validate(target)


@hookimpl
def mp_homes(field: str) -> list[Home] | None:
    """Say which Megatron-Core class holds a field, and since when."""
    from mp_plugin_megatron.apply import homes

    return homes(field)


@hookimpl
def mp_targets(values: Mapping[str, Any]) -> Mapping[str, object] | None:
    """Make Megatron-Core configs from plain field names."""
    from mp_plugin_megatron.targets import targets

    return targets(values)


@hookimpl
def mp_check(config: MixedPrecisionConfig, situation: Situation) -> Iterable[Finding]:
    """Look for combinations that are known to go wrong."""
    from mp_plugin_megatron.checks import check

    return check(config, situation)


@hookimpl
def mp_rules() -> tuple[Rule, ...]:
    """Return the rules of the checks."""
    from mp_plugin_megatron.checks import RULES
    from mp_plugin_megatron.precision.rules import RULES as FILE_RULES

    return (*RULES, *FILE_RULES)
