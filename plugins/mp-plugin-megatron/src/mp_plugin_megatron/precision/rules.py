"""Where a per-module precision file and the recipe of the run contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mp_plugin_megatron.precision import entries, matching, releases
from mp_plugin_megatron.precision.file import FILE_SINCE

if TYPE_CHECKING:
    from mp_core import Finding, MixedPrecisionConfig, Situation
    from mp_plugin_megatron.precision.file import PrecisionFile

MODULES = (releases, entries, matching)
RULES = tuple(rule for module in MODULES for rule in module.RULES)


def check_file(
    config: MixedPrecisionConfig, file: PrecisionFile, situation: Situation
) -> Iterator[Finding]:
    """Yield what stands against *file* beside *config*, the recipe of the run."""
    if releases.has(situation, FILE_SINCE) is False:
        yield from releases.ignored(config, file, situation)
        return
    for module in MODULES:
        for each in module.CHECKS:
            yield from each(config, file, situation)
