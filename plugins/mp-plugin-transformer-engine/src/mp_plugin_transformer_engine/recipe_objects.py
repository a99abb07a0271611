"""Transformer Engine's recipe classes: what a config's fields mean to each, and since when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any, NamedTuple

from mp_core import ClassMissing
from mp_core.calls import Call, Member
from mp_core.config import MixedPrecisionConfig
from mp_core.errors import InvalidPrecision
from mp_core.releases import at_least, version
from mp_core.situation import UNKNOWN, Situation

MODULE = "transformer_engine.common.recipe"
DISTRIBUTION = "transformer_engine"


class Versions(NamedTuple):
    """The first Transformer Engine release that has a thing, and the first that no longer has."""

    first: str = ""
    end: str = ""


#: Read from the released classes. DelayedScaling is older than every release looked at (1.11).
CLASSES = {
    "DelayedScaling": Versions(),
    "Float8BlockScaling": Versions("2.3"),
    "Float8CurrentScaling": Versions("2.2"),
    "MXFP8BlockScaling": Versions("2.0"),
    "NVFP4BlockScaling": Versions("2.8"),
}
#: Fields that came or went after their class. 1.13 is the last release seen with this one, and
#: 2.1 the first without; between them stands 2.0, whose fields nobody could read.
FIELDS = {("DelayedScaling", "override_linear_precision"): Versions(end="2.0")}
#: Fields that the class has, and asserts to be false: from the first release to before the second.
REFUSED = {("Float8CurrentScaling", "fp8_dpa"): Versions("2.4", "2.8")}

#: Members of Format by the config's word. Every class asserts that it is not pure E5M2.
FORMATS = {"e4m3": "E4M3", "hybrid": "HYBRID"}


class Meaning(NamedTuple):
    """How a class's field is read from a config.

    label: what to type so that the field is at its default. default: what a class without this
    field does; None where every version of the class has it.
    """

    read: Callable[[MixedPrecisionConfig], Any]
    label: str
    default: Any = None


def _format(config: MixedPrecisionConfig) -> Member:
    if config.fp8 not in FORMATS:
        legal = " or ".join(f"fp8={word}" for word in FORMATS)
        message = f"fp8={config.fp8!r} is no format of Transformer Engine's FP8 recipes"
        raise InvalidPrecision(f"{message}, which refuse pure E5M2; type {legal}")
    return Member("Format", FORMATS[config.fp8])


def _overridden(config: MixedPrecisionConfig) -> tuple[bool, bool, bool]:
    return (False, False, not config.fp8_wgrad)


_FORMAT = Meaning(_format, "fp8=e4m3")
_DPA = Meaning(
    lambda config: config.fp8_dot_product_attention, "fp8_dot_product_attention=false", False
)
_MHA = Meaning(
    lambda config: config.fp8_multi_head_attention, "fp8_multi_head_attention=false", False
)
#: What each class is passed. Source: megatron-core 0.19 fp8_utils.py, fp4_utils.py and
#: TEDelayedScaling, which pass no other field: the others stay at the class's defaults.
MEANINGS: Mapping[str, Mapping[str, Meaning]] = {
    "DelayedScaling": {
        "margin": Meaning(lambda config: config.fp8_margin, "fp8_margin=0"),
        "fp8_format": _FORMAT,
        "amax_history_len": Meaning(lambda c: c.fp8_amax_history_len, "fp8_amax_history_len=1024"),
        "amax_compute_algo": Meaning(
            lambda c: c.fp8_amax_compute_algo, "fp8_amax_compute_algo=max"
        ),
        "override_linear_precision": Meaning(_overridden, "fp8_wgrad=true", (False, False, False)),
        "fp8_dpa": _DPA,
        "fp8_mha": _MHA,
    },
    "Float8BlockScaling": {"fp8_format": _FORMAT, "fp8_dpa": _DPA},
    "Float8CurrentScaling": {"fp8_format": _FORMAT, "fp8_dpa": _DPA},
    "MXFP8BlockScaling": {"fp8_format": _FORMAT, "fp8_dpa": _DPA},
    "NVFP4BlockScaling": {"fp8_dpa": _DPA},
}


def recipe_call(config: MixedPrecisionConfig, situation: Situation, name: str) -> Call:
    """Return the call that makes Transformer Engine's recipe *name* for *config*.

    Its arguments are the fields that the class has: the installed one where the situation's
    Transformer Engine is the installed one or is not known, else that of the table. Where neither
    says, only what differs from the class's defaults is passed.
    Raises InvalidPrecision for a knob that is not at its default and has no field there or is
    refused there, and for a version without the class.
    """
    wanted, given = _wanted(config, name), situation.value("transformer_engine")
    told = given is not UNKNOWN and given is not None
    if told:
        _check_accepted(wanted, given)
    if not told or _installed(given):
        try:
            return wanted.fitted(wanted.installed_fields(), f"the installed {MODULE}")
        except ClassMissing:
            if not told:
                return wanted.bare()
    return wanted.fitted(known_fields(name, given), f"Transformer Engine {given}")


def known_fields(name: str, release: str) -> list[str]:
    """Return the fields of class *name* in a Transformer Engine release, of those we pass.

    Raises InvalidPrecision where that release lacks the class.
    """
    if not _has(CLASSES[name], release):
        message = (
            f"Transformer Engine {release} has no {name}, which came with {CLASSES[name].first}"
        )
        raise InvalidPrecision(f"{message}; take a later version, or another recipe")
    return [each for each in MEANINGS[name] if _has(FIELDS.get((name, each), Versions()), release)]


def _check_accepted(call: Call, release: str) -> None:
    for (name, field), versions in REFUSED.items():
        if name == call.name and call.arguments.get(field) and _has(versions, release):
            message = f"Transformer Engine {release}: {name} refuses {field}=True"
            label = MEANINGS[name][field].label
            raise InvalidPrecision(f"{message}; type {label}, or take {versions.end} or later")


def _wanted(config: MixedPrecisionConfig, name: str) -> Call:
    meanings = MEANINGS[name]
    return Call(
        MODULE,
        name,
        {each: meaning.read(config) for each, meaning in meanings.items()},
        {each: m.default for each, m in meanings.items() if m.default is not None},
        {each: meaning.label for each, meaning in meanings.items()},
    )


def _has(versions: Versions, release: str) -> bool:
    """Return whether a release has it; a pre-release of the first one is taken to have it."""
    first, end = versions
    came = not first or at_least(release, first) is not False
    return came and not (end and at_least(release, end) is not False)


def _installed(release: str) -> bool:
    """Return whether Transformer Engine's metadata names this release."""
    try:
        return version(metadata.version(DISTRIBUTION)) == version(release)
    except metadata.PackageNotFoundError:
        return False
