"""Rules on what a version of Megatron-Core has, and on what it takes but does not do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mp_core import UNKNOWN, Finding, Rule
from mp_core.releases import at_least
from mp_plugin_megatron.versions import ATTENTION as ATTENTION_SINCE
from mp_plugin_megatron.versions import RECIPES, needed_versions

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig, Situation

RELEASE = Rule(
    "MG201",
    "A recipe needs a megatron-core whose config classes hold its fields and values.",
    "The value lands nowhere, and the run trains in another precision.",
    "megatron-core transformer_config.py, distributed_data_parallel_config.py, enums.py",
    "machine",
)
FP4_GATHER = Rule(
    "MG202",
    "The DDP field of the FP4 gather came before the optimizer that carries it out.",
    "The gather fails, or parameters go stale.",
    "Megatron-LM#2284; TransformerEngine#2352",
    "machine",
)
ATTENTION = Rule(
    "MG203",
    "FP8 attention reaches the recipe object of Transformer Engine from some version on only.",
    "The setting is dropped without a word, and attention stays in 16 bits.",
    "megatron-core fp8_utils.py, fp4_utils.py, 0.14 to 0.19",
    "machine",
)
RECIPE = Rule(
    "MG207",
    "Megatron-Core makes the recipe objects of its own recipes only.",
    "The first forward pass fails with a ValueError, unless the recipe's library changes it.",
    "megatron-core fp8_utils.py, fp4_utils.py, 0.14 to 0.19",
    "machine",
)
RULES = (RELEASE, FP4_GATHER, ATTENTION, RECIPE)


def attention(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """FP8 attention reaches Transformer Engine."""
    recipe = config.fp8_recipe if config.fp8 else config.fp4_recipe if config.fp4 else ""
    floor, found = ATTENTION_SINCE.get(recipe), situation.value("megatron_core")
    if not (config.fp8_dot_product_attention and floor) or found is None:
        return
    message = f"fp8_dot_product_attention under {recipe!r} takes effect from {floor} on"
    remedy = f"Use megatron-core {floor} or later, or type fp8_dot_product_attention=false."
    if found is UNKNOWN:
        yield ATTENTION.unknown(f"{message}; megatron-core is not known.", "Type --mcore.")
    elif not at_least(found, floor):
        yield ATTENTION.warning(f"{message}; megatron-core here is {found}.", remedy)


def recipes(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Megatron-Core makes the recipe's object."""
    for family in ("fp8", "fp4"):
        recipe = getattr(config, f"{family}_recipe")
        if getattr(config, family) and recipe not in RECIPES:
            message = f"{family}_recipe={recipe!r} is none that megatron-core makes itself."
            yield RECIPE.unknown(message, "Read how its plugin brings it into Megatron.")


def releases(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """The classes of the given Megatron-Core hold what the recipe needs."""
    needs, found = needed_versions(config), situation.value("megatron_core")
    if not needs:
        return
    *_, (field, floor) = needs.items()
    if found is UNKNOWN:
        message = f"{field} needs megatron-core {floor} or later; which is there is not known."
        yield RELEASE.unknown(message, "Type --mcore.")
    elif found is None or at_least(found, floor) is False:
        here = "it is not installed" if found is None else f"here is {found}"
        unmet = [n for n, v in needs.items() if found is None or at_least(found, v) is False]
        text = " and ".join(f"{name} needs {needs[name]}" for name in unmet)
        message = f"Of megatron-core {text}; {here}."
        yield RELEASE.error(message, f"Use megatron-core {floor} or later.")
    elif at_least(found, floor) is None:
        message = f"{field} needs megatron-core {floor}; {found} is a pre-release of it."
        yield RELEASE.unknown(message, f"Use megatron-core {floor}.")
    elif config.fp4 and config.fp4_param_gather and not at_least(found, "0.18"):
        message = f"fp4_param_gather with megatron-core {found}: its optimizer side came with 0.18."
        yield FP4_GATHER.warning(message, "Use 0.18, or type fp4_param_gather=false.")


CHECKS = (attention, recipes, releases)
