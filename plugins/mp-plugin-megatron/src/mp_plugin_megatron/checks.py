"""Every rule and check of this plugin: combinations with Megatron-Core that go wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mp_plugin_megatron import (
    experts,
    layouts,
    modes,
    optimizers,
    parameters,
    recomputing,
    releases,
)

if TYPE_CHECKING:
    from mp_core import Finding, MixedPrecisionConfig, Situation

MODULES = (experts, layouts, modes, optimizers, parameters, recomputing, releases)
RULES = tuple(rule for module in MODULES for rule in module.RULES)


def check(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Yield the findings of every check."""
    for module in MODULES:
        for each in module.CHECKS:
            yield from each(config, situation)
