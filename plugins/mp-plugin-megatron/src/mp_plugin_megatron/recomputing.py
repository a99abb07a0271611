"""Rules on what is computed once more in the backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mp_core import Finding, Rule
from mp_plugin_megatron.situations import low_precision, needs_engine

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig, Situation

DENSE = Rule(
    "MG105",
    "Recomputing dense MLP layers beside experts fails under FP8.",
    "The run stops with an unexpected keyword argument.",
    "Megatron-Bridge commit 034fdb1b9",
    "layout",
)
RECOMPUTE = Rule(
    "MG106",
    "What is recomputed in the backward pass is quantized once more, or not at all.",
    "Memory or loss may differ from the run without recompute.",
    "Megatron-LM#1236, Megatron-LM#1210",
    "layout",
)
NORMS_DELAYED = Rule(
    "MG110",
    "Delayed scaling cannot recompute norms or the experts' activation.",
    "TransformerConfig refuses the pair.",
    "megatron-core transformer_config.py, 0.14 to 0.19",
    "layout",
)
NORMS_ENGINE = Rule(
    "MG205",
    "Recomputing norms or the experts' activation under FP8 came with Transformer Engine 2.6.",
    "TransformerConfig refuses older ones.",
    "megatron-core transformer_config.py, 0.14 to 0.19",
    "machine",
)
RULES = (DENSE, RECOMPUTE, NORMS_DELAYED, NORMS_ENGINE)
NORMS = ("layernorm", "moe_act")


def recompute(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """What is recomputed in the backward pass is quantized once more."""
    family, modules = low_precision(config), situation.value("recompute_modules") or ()
    if not family or not situation.value("recompute_granularity"):
        return
    if "mlp" in modules and situation.value("num_moe_experts"):
        message = f"recompute_modules has 'mlp' with {family} and experts: dense layers fail in it."
        remedy = "Take 'mlp' out of recompute_modules."
        yield DENSE.warning(message, remedy)
    message = f"recompute with {family}: activations may be recomputed in the 16-bit base instead."
    remedy = "Measure memory and loss once without recompute."
    yield RECOMPUTE.note(message, remedy)


def norms(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """Norms and the experts' activation are recomputed where both sides can."""
    modules = sorted(set(NORMS) & set(situation.value("recompute_modules") or ()))
    if not (config.fp8 and modules and situation.value("recompute_granularity") == "selective"):
        return
    what = f"recompute_modules with {' and '.join(modules)}"
    if config.fp8_recipe == "delayed":
        message = f"{what} under fp8_recipe='delayed' is refused by Megatron."
        yield NORMS_DELAYED.error(message, "Take them out, or use current scaling.")
    else:
        yield from needs_engine(NORMS_ENGINE, what, "2.6", situation)


CHECKS = (recompute, norms)
