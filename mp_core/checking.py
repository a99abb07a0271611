"""For plugins that check: what more than one family's rules need, stated once."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator

from mp_core.config import MixedPrecisionConfig
from mp_core.findings import Finding, Rule
from mp_core.situation import UNKNOWN, Situation, Unknown


def any_true(situation: Situation, *names: str) -> bool | Unknown:
    """Return True when one of the facts is true, UNKNOWN when none is known, else False.

    For facts of which one target has only some, such as a switch that was renamed.
    """
    values = [situation.value(name) for name in names]
    if any(values):
        return True
    return UNKNOWN if all(value is UNKNOWN for value in values) else False


def unused_knobs(
    config: MixedPrecisionConfig, names: Iterable[str], rule: Rule, why: str
) -> Iterator[Finding]:
    """Yield a warning for each field of *names* that is set to other than its default.

    names: fields that do nothing in this config. why: completes "does nothing ...".
    """
    defaults = {field.name: field.default for field in dataclasses.fields(config)}
    for name in sorted(names):
        value, default = getattr(config, name), defaults[name]
        if value != default:
            message = f"{name}={value!r} does nothing {why}; its default is {default!r}."
            yield rule.warning(message, f"Type {name}={_typed(default)}.")


def _typed(value: object) -> str:
    """Return *value* as an override is written."""
    return str(value).lower() if isinstance(value, bool) else str(value)
