"""Rules on the matchers of a per-module precision file: which of them decide, and for what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from mp_core import UNKNOWN, Finding, Rule
from mp_plugin_megatron.precision.file import quantization

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig, Situation
    from mp_plugin_megatron.precision.file import LayerRecipe, Matcher, PrecisionFile

SOURCE = "megatron-core quantization/quant_config.py, 0.16 to 0.19"
COVERED = Rule(
    "MG411",
    "The first enabled matcher whose pattern fits a module decides.",
    "A matcher after a wider one never decides.",
    SOURCE,
)
DISABLED = Rule(
    "MG412",
    "A matcher counts only with enabled: true; without the key it is off.",
    "The modules follow a later matcher, or the recipe of the run.",
    SOURCE,
)
LOCAL = Rule(
    "MG413",
    "Module paths number the layers of each pipeline stage, and of each virtual one, from 0.",
    "A pattern with a layer's number fits a layer of every stage.",
    "megatron-core models/gpt/gpt_model.py, transformer/transformer_block.py, 0.16 to 0.19",
    "layout",
)
SAME = Rule(
    "MG414",
    "An entry that computes as the recipe does changes nothing.",
    "Nothing; the file is longer than it need be.",
    "megatron-core extensions/transformer_engine.py, 0.16 to 0.19",
)
RULES = (COVERED, DISABLED, LOCAL, SAME)
PIPELINE = "pipeline_model_parallel_size"
NUMBERED = re.compile(r"layers\.[\d\[?]")


def deciding(file: PrecisionFile) -> list[Matcher]:
    """Return the matchers that can decide, in order."""
    return [each for each, earlier in _enabled(file) if earlier is None]


def used(file: PrecisionFile) -> list[tuple[str, LayerRecipe]]:
    """Return the training recipe of each config that some matcher picks, sorted by name."""
    names = sorted({matcher.config for matcher in deciding(file)})
    return [(name, file.configs[name].training) for name in names]


def covered(
    config: MixedPrecisionConfig, file: PrecisionFile, situation: Situation
) -> Iterator[Finding]:
    """No matcher comes after one that takes all its modules."""
    for matcher, earlier in _enabled(file):
        if earlier:
            message = f"{matcher.pattern!r} never decides: {earlier.pattern!r} comes before it."
            yield COVERED.warning(message, "Put the narrower pattern first, or take it out.")


def disabled(
    config: MixedPrecisionConfig, file: PrecisionFile, situation: Situation
) -> Iterator[Finding]:
    """Every matcher says whether it is enabled."""
    for matcher in file.matchers:
        what = f"The matcher {matcher.name!r} is off"
        if matcher.enabled is None:
            yield DISABLED.warning(f"{what}: it has no 'enabled'.", "Write enabled: true.")
        elif not matcher.enabled:
            yield DISABLED.note(f"{what}.", "Write enabled: true to use it.")


def local(
    config: MixedPrecisionConfig, file: PrecisionFile, situation: Situation
) -> Iterator[Finding]:
    """A layer's number means one layer of the model."""
    stages = situation.value(PIPELINE)
    for matcher in deciding(file):
        if not NUMBERED.search(matcher.pattern) or stages == 1:
            continue
        what = f"{matcher.pattern!r} numbers layers within a pipeline stage"
        if stages is UNKNOWN:
            yield LOCAL.unknown(f"{what}; how many stages there are is unknown.", "Type --pp.")
        else:
            message = f"{what}: it fits such a layer in each of {stages}."
            yield LOCAL.warning(message, "Name modules and no layers, or keep the recipe's own.")


def same(
    config: MixedPrecisionConfig, file: PrecisionFile, situation: Situation
) -> Iterator[Finding]:
    """An entry computes otherwise than the recipe, or keeps modules from a later one."""
    matchers = deciding(file)
    for index, matcher in enumerate(matchers):
        training, evaluation = file.configs[matcher.config]
        last = {each.config for each in matchers[index:]} == {matcher.config}
        if last and evaluation in (None, training) and _equal(training, config):
            yield SAME.note(f"{matcher.pattern!r} computes as the recipe does.", "Leave it out.")


def covers(earlier: str, later: str) -> bool:
    """Return True where every path that *later* fits is known to fit *earlier* too."""
    if earlier == later or not earlier.strip("*"):
        return True
    # Then a star of earlier takes every wildcard of later, and so all that these stand for.
    plain = not set("?[") & set(earlier) and "[" not in later
    return plain and fnmatchcase(later, earlier)


def _equal(layer: LayerRecipe, config: MixedPrecisionConfig) -> bool:
    if layer.tp_only_amax_red or (layer.opens and config.first_last_layers_bf16):
        return False
    alike = layer.quantization == quantization(config)
    return alike and (not config.fp8 or layer.fp8_format == config.fp8)


def _enabled(file: PrecisionFile) -> Iterator[tuple[Matcher, Matcher | None]]:
    """Yield each enabled matcher with the first one before it that covers it."""
    enabled = [each for each in file.matchers if each.enabled]
    for index, matcher in enumerate(enabled):
        wider = (each for each in enabled[:index] if covers(each.pattern, matcher.pattern))
        yield matcher, next(wider, None)


CHECKS = (covered, disabled, local, same)
