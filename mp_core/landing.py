"""Notice every value of a recipe that finds no place, and say where its place would be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from mp_core.changes import Change, Home
from mp_core.errors import PrecisionNotApplied
from mp_core.plan import Note
from mp_core.plugins import hooks
from mp_core.settings import Setting, settings

if TYPE_CHECKING:
    from mp_core.config import MixedPrecisionConfig


#: The label of a config that is updated by itself, whose caller has the others in hand.
ALONE = "config"
#: Where all of these are given, a value at its default cannot be missing anywhere.
ROLES = {"ddp", "model", "optimizer"}


def landing_notes(
    config: MixedPrecisionConfig, targets: Mapping[str, object], changes: Iterable[Change]
) -> Iterator[Note]:
    """Yield a note for each role that was not given and would have held values.

    Raises PrecisionNotApplied for a value that differs from its default and that nothing in the
    installed versions holds.
    """
    landed = {change.setting for change in changes}
    roles = {label.partition("[")[0] for label in targets}
    defaults = type(config).__dataclass_fields__
    unplaced: dict[str, list[str]] = {}
    loud: set[str] = set()
    lost: dict[str, str] = {}
    for setting in settings(config):
        unusual = _is_unusual(setting, defaults[setting.field].default)
        is_word = setting.origin.kind != "rule" and bool(config.recipe) and roles != ROLES
        if setting.field in landed or not (unusual or is_word):
            continue
        homes: list[Home] = hooks().mp_homes(field=setting.field) or []
        elsewhere = [home.role for home in homes if home.present and home.role not in roles]
        for role in elsewhere:
            unplaced.setdefault(role, []).append(f"{setting.field}={setting.value}")
            loud |= {role} if unusual else set()
        if unusual and not elsewhere:
            lost[setting.field] = _lost(setting.field, setting.value, homes)
    if lost:
        raise PrecisionNotApplied(_message(config, lost))
    for role, fields in sorted(unplaced.items()) if ALONE not in roles else ():
        text = f"no {role} config was given, so not set: {', '.join(fields)}"
        yield Note(text, loud=role in loud)


def _is_unusual(setting: Setting, default: object) -> bool:
    """A rule's own value is missed only where it turns something on."""
    if setting.origin.kind == "rule":
        return setting.value is True
    return bool(setting.value != default)


def _lost(field: str, value: object, homes: list[Home]) -> str:
    message = f"{field}={value!r} has no place in the given configs"
    if not homes:
        return f"{message}, and no installed plugin knows one that holds it"
    return f"{message}; it belongs in {' or '.join(map(_where, homes))}"


def _where(home: Home) -> str:
    return f"{home.target} ({home.since} and later; here {home.installed})"


def _message(config: MixedPrecisionConfig, lost: Mapping[str, str]) -> str:
    name = config.recipe or type(config).__name__
    lines = [f"{name}: {line}" for line in lost.values()]
    switches = [f"{field}=false" for field in lost if getattr(config, field) is True]
    # Without its fp8 or fp4 switch a recipe is another recipe: no override makes up for it.
    if config.recipe and len(switches) == len(lost):
        lines.append(f'To go without: "{name}:{",".join(switches)}"')
    return "\n".join([*lines, "Nothing was changed."])
