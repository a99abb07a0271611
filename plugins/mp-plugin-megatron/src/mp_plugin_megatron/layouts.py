"""Rules on parallel layouts that Megatron-Core refuses in any precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mp_core import UNKNOWN, Finding, Rule
from mp_core.releases import at_least

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig, Situation

WHOLE = Rule(
    "MG115",
    "A rank has whole attention heads, query groups and experts.",
    "TransformerConfig or the first layer of experts refuses the layout.",
    "megatron-core transformer_config.py, transformer/moe/moe_layer.py, 0.12 to 0.19",
    "layout",
)
RULES = (WHOLE,)
TP, EP = "tensor_model_parallel_size", "expert_model_parallel_size"
HEADS, GROUPS, EXPERTS = "num_attention_heads", "num_query_groups", "num_moe_experts"
#: From this version on, several ranks can have the same query group.
SHARED = "0.16"


def heads(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Tensor parallelism divides the attention heads."""
    yield from _divided(situation, HEADS, TP)


def groups(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Tensor parallelism divides the query groups, or the groups divide it."""
    count, ranks = situation.value(GROUPS), situation.value(TP)
    if not (count and ranks) or count % ranks == 0:
        return
    found, remedy = situation.value("megatron_core"), f"Use {TP}={_divisor(count, ranks)}"
    message = f"{GROUPS} {count} / {TP} {ranks} is no whole number"
    if ranks % count:
        yield WHOLE.error(f"{message}, nor is its inverse.", f"{remedy}.")
    elif found is UNKNOWN:
        yield WHOLE.unknown(f"{message}, as it is before megatron-core {SHARED}.", "Type --mcore.")
    elif found and not at_least(found, SHARED):
        message = f"{message}; megatron-core here is {found}."
        yield WHOLE.error(message, f"{remedy}, or megatron-core {SHARED} or later.")


def experts(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Expert parallelism divides the experts."""
    yield from _divided(situation, EXPERTS, EP)


def _divided(situation: Situation, name: str, split: str) -> Iterator[Finding]:
    count, ranks = situation.value(name), situation.value(split)
    if not ranks or ranks == 1:
        return
    if count is UNKNOWN:
        yield WHOLE.unknown(f"{split} {ranks} divides {name}, which is not known.", "Give it too.")
    elif not count:
        yield WHOLE.error(f"{split} {ranks} without {name}.", f"Use {split}=1.")
    elif count % ranks:
        message = f"{name} {count} / {split} {ranks} is no whole number."
        yield WHOLE.error(message, f"Use {split}={_divisor(count, ranks)}.")


def _divisor(count: int, ranks: int) -> int:
    """Return the most ranks, no more than *ranks*, that divide *count*."""
    return max(number for number in range(1, ranks + 1) if count % number == 0)


CHECKS = (heads, groups, experts)
