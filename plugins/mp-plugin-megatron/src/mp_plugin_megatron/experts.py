"""Rules on mixtures of experts: padding of their tokens, and what runs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mp_core import UNKNOWN, Finding, Rule
from mp_core.releases import at_least
from mp_plugin_megatron.situations import low_precision, needs_engine

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig, Situation

PADDING = Rule(
    "MG109",
    "The router pads tokens for FP8 or FP4 only, and in some dispatchers only.",
    "TransformerConfig refuses the pair.",
    "megatron-core transformer_config.py, 0.13 to 0.19",
    "layout",
)
TOKENS = Rule(
    "MG302",
    "Each expert's tokens are padded to what the GEMMs of the recipe take.",
    "Few tokens an expert are mostly padding; the router can pad instead, without a copy.",
    "megatron-core fp8_utils.py, fp4_utils.py, transformer/moe/moe_utils.py, 0.18",
    "shape",
)
ENGINE = Rule(
    "MG204",
    "Experts in FP8 came to Transformer Engine with 1.7, their grouped GEMM with 1.11.",
    "TransformerConfig refuses older ones; without experts' tokens they fail.",
    "megatron-core transformer_config.py, 0.12 to 0.19",
    "machine",
)
RULES = (PADDING, TOKENS, ENGINE)
#: The switch, and the name that it had before.
RENAMED = "0.16"
SWITCHES = ("moe_router_padding_for_quantization", "moe_router_padding_for_fp8")
NO_PADDING = ("allgather", "alltoall_seq")
#: Megatron-Core's own, by recipe; FP8 by tensor or block takes 16.
MULTIPLES = {"mxfp8": 32, "nvfp4": 128}


def padding(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """The router pads for FP8 or FP4, with a dispatcher that can."""
    switch = next((name for name in SWITCHES if situation.value(name)), None)
    dispatcher = situation.value("moe_token_dispatcher_type")
    if not switch:
        return
    if not low_precision(config):
        message = f"{switch}=True, while the recipe has FP8 and FP4 off."
        yield PADDING.error(message, f"Set {switch}=False.")
    elif dispatcher in NO_PADDING:
        message = f"{switch}=True with moe_token_dispatcher_type={dispatcher!r}."
        remedy = f"Set moe_token_dispatcher_type='alltoall', or {switch}=False."
        yield PADDING.error(message, remedy)


def tokens(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Experts get a multiple of tokens."""
    if not (low_precision(config) and situation.value("num_moe_experts")):
        return
    if not any(situation.value(name) for name in SWITCHES):
        recipe = config.fp8_recipe if config.fp8 else config.fp4_recipe
        multiple = MULTIPLES.get(recipe, 16)
        message = f"A copy of each expert's tokens is padded to a multiple of {multiple}."
        yield TOKENS.note(message, f"Set {_switch(situation)}, with the 'alltoall' dispatcher.")


def _switch(situation: Situation) -> str:
    """Return the setting by which the router pads, as the version there calls it."""
    found, (new, old) = situation.value("megatron_core"), SWITCHES
    if found in (UNKNOWN, None):
        return f"{new}=True ({old} before megatron-core {RENAMED})"
    return f"{new if at_least(found, RENAMED) else old}=True"


def engine(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Transformer Engine runs experts in FP8."""
    if config.fp8 and situation.value("num_moe_experts"):
        grouped = situation.value("moe_grouped_gemm")
        what = "A grouped GEMM in FP8" if grouped else "A mixture of experts in FP8"
        yield from needs_engine(ENGINE, what, "1.11" if grouped else "1.7", situation)


CHECKS = (padding, tokens, engine)
