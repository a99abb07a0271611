"""Where the user's explicit value and the recipe differ: the recipe wins aloud, or as asked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mp_core.changes import RULE, Change
from mp_core.errors import PrecisionConflict
from mp_core.ledger import differs, unlike_default
from mp_core.plan import Conflict, show
from mp_core.settings import mode

if TYPE_CHECKING:
    from mp_core.config import MixedPrecisionConfig

#: Keeping one of these alone would leave a run in two modes at once.
WHOLE_MODE = ("fp16", "bf16", "params_dtype")


class Settled(NamedTuple):
    """The changes after the policy, the user's values kept, and the conflicts that were met."""

    changes: list[Change]
    kept: list[Change]
    conflicts: list[Conflict]


def settle(
    config: MixedPrecisionConfig, proposed: Iterable[Change], spoken: frozenset[str], policy: str
) -> Settled:
    """Apply the conflict *policy* to *proposed*; *spoken*: see ledger.baseline.

    Raises PrecisionConflict under ``keep`` for a part of the mode.
    """
    settled = Settled([], [], [])
    for offered in proposed:
        change = offered
        clash = differs(change.old, change.new) and _is_users(change, spoken)
        if clash and policy == "keep":
            _refuse_half_a_mode(config, change)
            kept = replace(change, new=change.old, origin=RULE, reason="kept: set before")
            settled.kept.append(kept)
            change = kept
        elif clash:
            settled.conflicts.append(Conflict(change, remedy(config, change)))
        settled.changes.append(change)
    return settled


def refuse_conflicts(config: MixedPrecisionConfig, conflicts: Iterable[Conflict]) -> None:
    """Raise PrecisionConflict with a line for each of *conflicts*, where there is one."""
    name = config.recipe or type(config).__name__
    lines = [f"{name}: {_sentence(c.change)}. {c.remedy}" for c in conflicts]
    if lines:
        raise PrecisionConflict("\n".join([*lines, "Nothing was changed."]))


def _is_users(change: Change, spoken: frozenset[str]) -> bool:
    """A value that differs from its class default can only be the user's, unless derived."""
    if change.derived:
        return False
    return change.field in spoken or unlike_default(change.target, change.field)


def _sentence(change: Change) -> str:
    name = f"{type(change.target).__name__}.{change.field}"
    return f"{name}={show(change.old)} was set before and would become {show(change.new)}"


def remedy(config: MixedPrecisionConfig, change: Change) -> str:
    """Return what to type to keep the user's value of *change*."""
    if change.setting in WHOLE_MODE:
        wanted = f"a recipe whose {change.field} is {show(change.old)}"
        return f"To keep it, choose {wanted}: mp list"
    keep = 'on_conflict="keep"'
    if change.origin == RULE or not config.recipe:
        return f"To keep it: {keep}"
    return f'To keep it: "{config.recipe}:{change.setting}={_typed(change.old)}" or {keep}'


def _typed(value: object) -> str:
    return show(value).lower() if isinstance(value, bool) or value is None else show(value)


def _refuse_half_a_mode(config: MixedPrecisionConfig, change: Change) -> None:
    if change.setting in WHOLE_MODE:
        message = f"{_sentence(change)}: the base mode is one fact and is not kept in part"
        raise PrecisionConflict(
            f"{message}. Choose a recipe of that mode instead of {mode(config)}"
        )
