"""Where the user's explicit value and the recipe differ: the recipe wins aloud, or as asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from mp_core.changes import RULE, Change
from mp_core.errors import PrecisionConflict
from mp_core.ledger import differs, unlike_default
from mp_core.plan import Conflict, show
from mp_core.settings import inactive_because

if TYPE_CHECKING:
    from mp_core.config import MixedPrecisionConfig

#: The base mode: a value of it is another recipe's, and no override's.
MODE = ("fp16", "bf16", "params_dtype")
#: What several configs hold together: keeping one's alone would make them contradict each other.
SHARED = (
    *MODE,
    "fp4",
    "fp4_param",
    "fp4_param_gather",
    "fp8",
    "fp8_param",
    "fp8_param_gather",
    "fp8_recipe",
    "reuse_grad_buf_for_mxfp8_param_ag",
)


class Settled(NamedTuple):
    """The changes after the policy, the user's values kept, and the conflicts that were met."""

    changes: list[Change]
    kept: list[Change]
    conflicts: list[Conflict]


def settle(
    config: MixedPrecisionConfig, proposed: Iterable[Change], spoken: frozenset[str], policy: str
) -> Settled:
    """Apply the conflict *policy* to *proposed*; *spoken*: see ledger.baseline.

    Raises PrecisionConflict under ``keep`` for a value that several configs share.
    """
    settled = Settled([], [], [])
    for offered in proposed:
        change = offered
        clash = differs(change.old, change.new) and _is_users(change, spoken)
        if clash and policy == "keep":
            _refuse_to_keep_alone(config, change)
            kept = change._replace(new=change.old, origin=RULE, reason="kept: set before")
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
    if change.setting in MODE:
        return f"To keep it, choose a recipe whose {change.field} is {show(change.old)}: mp list"
    ways = []
    if config.recipe and not inactive_because(config, change.setting):
        ways.append(f'"{config.recipe}:{change.setting}={_typed(change.old)}"')
    if not _is_shared(change):
        ways.append('on_conflict="keep"')
    return f"To keep it: {' or '.join(ways) or 'choose a recipe with it: mp list'}"


def _typed(value: object) -> str:
    return show(value).lower() if isinstance(value, bool) or value is None else show(value)


def _is_shared(change: Change) -> bool:
    # Which of two formats one family uses is the model's own affair; on or off is everybody's.
    is_format = change.setting in ("fp4", "fp8") and None not in (change.old, change.new)
    return change.setting in SHARED and not is_format


def _refuse_to_keep_alone(config: MixedPrecisionConfig, change: Change) -> None:
    if _is_shared(change):
        message = f"{_sentence(change)}: model, optimizer and DDP config share it, so it is not"
        raise PrecisionConflict(f"{message} kept in one alone. {remedy(config, change)}")
