"""Transformer Engine's environment variables that change what a recipe computes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from mp_core import UNKNOWN, Finding, Rule, Situation
from mp_core.releases import within


class Switch(NamedTuple):
    """A variable: what another value than *default* does, and the first release that reads it."""

    name: str
    does: str
    since: str
    default: str = "0"


#: Read by every recipe's class.
SWITCHES = (
    Switch("NVTE_BACKWARD_OVERRIDE", "the backward pass leaves the recipe's precision", "2.15", ""),
    Switch("NVTE_PLUGIN", "a module of that name takes the place of the kernels", "2.20", ""),
)
_MODULE = "in Transformer Engine's own MultiheadAttention, with NVTE_DPA_FP8_RECIPE"
_DELAYED = "where FP8 attention uses delayed scales"
#: Read by FP8 attention; 1.13 is the oldest release that was looked at.
ATTENTION_SWITCHES = (
    Switch("NVTE_DPA_FP8_FORMAT", "FP8 attention takes that format", "2.8", "HYBRID"),
    Switch("NVTE_DPA_FP8_RECIPE", "FP8 attention takes that recipe, not the GEMMs'", "2.8", ""),
    Switch("NVTE_DPA_FP8DS_AMAX_ALGO", f"the amax is found so {_DELAYED}", "2.8", "most_recent"),
    Switch("NVTE_DPA_FP8DS_AMAX_HISTLEN", f"the amax history is so long {_DELAYED}", "2.8", "1"),
    Switch("NVTE_DPA_FP8DS_REDUCE_AMAX", f"ranks keep their own amax {_DELAYED}", "2.8", "1"),
    Switch("NVTE_DPA_FP8_RECIPE_DPA", f"FP8 attention is on {_MODULE}", "2.8"),
    Switch("NVTE_DPA_FP8_RECIPE_MHA", f"attention passes FP8 on {_MODULE}", "2.8"),
    Switch("NVTE_FP8_DPA_BWD", "the backward pass of attention is in 16 bits", "1.13", "1"),
    Switch("NVTE_UnfusedDPA_Emulate_FP8", "attention without a kernel emulates FP8", "2.8"),
)
OVERRIDE = SWITCHES[0].name
RULE = Rule(
    "TE601",
    "Transformer Engine takes some defaults of a recipe from the environment, when imported.",
    "The run computes otherwise than the recipe says, on the ranks that have the variable.",
    "TransformerEngine common/recipe/__init__.py, 2.20",
    "machine",
)
ATTENTION_RULE = Rule(
    "TE602",
    "FP8 attention takes its recipe and its scales from the environment.",
    "Attention computes otherwise than the recipe says.",
    "TransformerEngine pytorch/attention/dot_product_attention/dot_product_attention.py, 2.16",
    "machine",
)


def described(switches: Iterable[Switch]) -> dict[str, str]:
    """Return what each variable does, by its name."""
    return {each.name: f"{each.does} (from {each.since} on)" for each in switches}


def switched(
    situation: Situation,
    switches: Iterable[Switch],
    rule: Rule,
    needed: Collection[str] = (),
) -> Iterator[Finding]:
    """Yield a warning for each variable that is set to other than its default.

    A variable that nobody spoke of is at its default. The release counts where it is known.
    needed: what the device cannot do without, as ``NAME=value``.
    """
    for each in sorted(switches):
        value = situation.value(each.name)
        if value in (UNKNOWN, None, each.default) or f"{each.name}={value}" in needed:
            continue
        # Asked here, so that a run with no such variable needs no Transformer Engine.
        engine = situation.value("transformer_engine")
        if engine in (UNKNOWN, None) or within(engine, each.since):
            message = f"{each.name}={value} is set: {each.does}."
            yield rule.warning(message, f"unset {each.name}, unless it is meant, on every rank.")


def variable_rule(prefix: str, what: str) -> Rule:
    """Return the rule on the variables that change *what* alone."""
    return RULE._replace(
        code=f"{prefix}601",
        why=f"Transformer Engine takes some defaults of {what} from the environment.",
    )
