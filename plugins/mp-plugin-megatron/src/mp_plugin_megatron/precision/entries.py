"""Rules on the entries of a per-module precision file, beside the recipe of the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mp_core import Finding, Rule
from mp_core.checking import any_true
from mp_plugin_megatron.precision.file import PARAM_SINCE, quantization, storage
from mp_plugin_megatron.precision.matching import used
from mp_plugin_megatron.precision.releases import has

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig, Situation
    from mp_plugin_megatron.precision.file import PrecisionFile

SOURCE = "megatron-core extensions/transformer_engine.py, 0.16 to 0.19"
CLOSED = Rule(
    "MG404",
    "Where the recipe opens no autocast, an entry needs override_nonquantized_autocast to do so.",
    "The modules stay in 16 bits.",
    SOURCE,
)
KEPT = Rule(
    "MG405",
    "With override_quantized_autocast=false an entry leaves the recipe's autocast as it is.",
    "The modules follow the recipe of the run.",
    SOURCE,
)
STORED = Rule(
    "MG406",
    "The recipe decides how weights are stored: a GPTModel reads the file after they are made.",
    "Transformer Engine refuses weights of another recipe, and dequantizes them for 16 bits.",
    "megatron-core models/gpt/gpt_model.py, transformer/transformer_block.py, 0.16 to 0.19; "
    "TransformerEngine pytorch/module/base.py, 2.8 to 2.20",
    "layout",
)
RULES = (CLOSED, KEPT, STORED)
#: A model with one of these facts is made with the file at hand, from PARAM_SINCE on.
HYBRID = ("is_hybrid_model", "hybrid_layer_pattern", "hybrid_override_pattern")


def closed(
    config: MixedPrecisionConfig, file: PrecisionFile, situation: Situation
) -> Iterator[Finding]:
    """An entry that quantizes may do so where no autocast is open."""
    remedy = "Write override_nonquantized_autocast: true"
    for name, layer in used(file):
        if not layer.quantization or layer.opens:
            continue
        if not quantization(config):
            message = f"{name!r} quantizes, and the recipe does not: its modules stay in 16 bits."
            yield CLOSED.error(message, f"{remedy}.")
        elif config.first_last_layers_bf16:
            message = f"{name!r} quantizes, but not in the recipe's first and last layers."
            yield CLOSED.note(message, f"{remedy}, if it shall there too.")


def kept(
    config: MixedPrecisionConfig, file: PrecisionFile, situation: Situation
) -> Iterator[Finding]:
    """An entry may change the autocast that the recipe opens."""
    for name, layer in used(file):
        if quantization(config) and not layer.override_quantized_autocast:
            message = f"{name!r} does nothing in {quantization(config)}: it may not override it."
            yield KEPT.warning(message, "Write override_quantized_autocast: true.")


def stored(
    config: MixedPrecisionConfig, file: PrecisionFile, situation: Situation
) -> Iterator[Finding]:
    """Weights are stored as the entry computes with them."""
    kind, gather = storage(config), "fp8_param_gather" if config.fp8 else "fp4_param_gather"
    if kind and any_true(situation, *HYBRID) and has(situation, PARAM_SINCE):
        return
    for name, layer in used(file):
        own = layer.quantization
        if not kind and (layer.fp8_param or layer.fp4_param):
            message = f"{name!r} asks for quantized weights; the recipe stores them in 16 bits."
            yield STORED.warning(message, "Take out fp8_param and fp4_param.")
        elif not kind or own in (kind, "custom") or not layer.override_quantized_autocast:
            continue
        elif own:
            message = f"{name!r} computes in {own} with weights stored in {kind}, which fails."
            yield STORED.error(message, f"Give the recipe {gather}=false.")
        else:
            message = f"{name!r} computes in 16 bits with weights stored in {kind}."
            yield STORED.warning(message, f"Give the recipe {gather}=false, unless that is meant.")


CHECKS = (closed, kept, stored)
