"""Rules on what a version of Megatron-Core does with a per-module precision file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mp_core import UNKNOWN, Finding, Rule
from mp_core.releases import at_least
from mp_plugin_megatron.precision.file import FILE_SINCE, FRESH_SINCE, PARAM_SINCE, quantization
from mp_plugin_megatron.precision.matching import used

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig, Situation
    from mp_plugin_megatron.precision.file import PrecisionFile

IGNORED = Rule(
    "MG401",
    f"Transformer Engine's modules read the file from megatron-core {FILE_SINCE} on.",
    "Every module follows the recipe of the run.",
    "megatron-core extensions/transformer_engine.py, 0.15 and 0.16",
    "layout",
)
KEYS = Rule(
    "MG402",
    f"An entry has the keys fp8_param and fp4_param from megatron-core {PARAM_SINCE} on.",
    "Making the model stops with a ValueError.",
    "megatron-core extensions/transformer_engine.py, 0.16 to 0.18",
    "layout",
)
STALE = Rule(
    "MG403",
    f"Before {FRESH_SINCE} changed weights are quantized again only where the recipe quantizes.",
    "Modules that only the file quantizes compute with the weights of the first step.",
    "Megatron-LM#5641, PR #5642; megatron-core transformer/module.py, 0.16 to 0.19",
    "layout",
)
RULES = (IGNORED, KEYS, STALE)
PARAMS = ("fp8_param", "fp4_param")
CACHE = "disable_parameter_transpose_cache"


def has(situation: Situation, floor: str) -> bool | None:
    """Return whether the megatron-core there is *floor* or later, None where that is not known."""
    found = situation.value("megatron_core")
    if found is UNKNOWN:
        return None
    return False if found is None else at_least(found, floor)


def ignored(
    config: MixedPrecisionConfig, file: PrecisionFile, situation: Situation
) -> Iterator[Finding]:
    """The given megatron-core reads the file."""
    reads, here = has(situation, FILE_SINCE), situation.value("megatron_core")
    if reads is False:
        what = f"megatron-core {here} ignores" if here else "No megatron-core is there to read"
        yield IGNORED.error(f"{what} {file.name}.", f"Use megatron-core {FILE_SINCE} or later.")
    elif reads is None:
        message = f"{file.name} is read from megatron-core {FILE_SINCE} on; whether here, is"
        yield IGNORED.unknown(f"{message} not known.", "Type --mcore.")


def keys(
    config: MixedPrecisionConfig, file: PrecisionFile, situation: Situation
) -> Iterator[Finding]:
    """The given megatron-core knows every key."""
    for name, layer in used(file):
        given = " and ".join(key for key in PARAMS if getattr(layer, key) is not None)
        knows = has(situation, PARAM_SINCE)
        if not given or knows:
            continue
        message = f"{name!r} has {given}, of megatron-core {PARAM_SINCE} and later"
        if knows is None:
            yield KEYS.unknown(f"{message}; whether here, is not known.", "Type --mcore.")
        else:
            here = situation.value("megatron_core")
            yield KEYS.error(f"{message}; here is {here}.", f"Take out {given}.")


def fresh(
    config: MixedPrecisionConfig, file: PrecisionFile, situation: Situation
) -> Iterator[Finding]:
    """Weights that only the file quantizes are quantized again when they change."""
    names = ", ".join(name for name, layer in used(file) if layer.opens)
    knows = has(situation, FRESH_SINCE)
    if quantization(config) or not names or knows or situation.value(CACHE):
        return
    message = f"Only the file quantizes ({names}): its weights are quantized once, and"
    if knows is None:
        message = f"{message} before megatron-core {FRESH_SINCE} never again."
        yield STALE.unknown(message, "Type --mcore.")
    else:
        here = situation.value("megatron_core")
        remedy = f"Use megatron-core {FRESH_SINCE} or later, or set {CACHE}=True."
        yield STALE.error(f"{message} under megatron-core {here} never again.", remedy)


CHECKS = (ignored, keys, fresh)
