"""Rules on the base mode, the loss scale, and the layers that stay in BF16."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mp_core import UNKNOWN, Finding, Rule
from mp_plugin_megatron.situations import low_precision

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig, Situation

BASE = Rule(
    "MG101",
    "FP8 and FP4 run over a 16-bit base.",
    "Everything else runs in FP32, slowly.",
    "Megatron-LM#883, Megatron-LM#860",
)
SCALER = Rule(
    "MG107",
    "FP16 needs a static or a dynamic loss scale.",
    "Gradients underflow to zero.",
    "Megatron-Bridge PR #371",
    "layout",
)
STAGES = Rule(
    "MG301",
    "Layers kept in BF16 are counted within the first and the last pipeline stage.",
    "TransformerConfig refuses them under FP8; a model of such layers alone is plain BF16.",
    "megatron-core transformer_config.py, 0.12 to 0.19",
    "layout",
)
RULES = (BASE, SCALER, STAGES)
PIPELINE = "pipeline_model_parallel_size"
LAYER_COUNTS = ("num_layers_at_start_in_bf16", "num_layers_at_end_in_bf16")


def base_mode(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """FP8 and FP4 run over a 16-bit base."""
    family = low_precision(config)
    if family and not (config.bf16 or config.fp16):
        message = f"{family} is on while bf16 and fp16 are off: everything else runs in FP32."
        remedy = "Set bf16=true."
        yield BASE.warning(message, remedy)


def loss_scaler(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """FP16 needs a static or a dynamic loss scale."""
    scales = [situation.value(name) for name in ("loss_scale", "initial_loss_scale")]
    if config.fp16 and scales == [None, None]:
        message = "fp16 with loss_scale=None and initial_loss_scale=None: gradients underflow."
        remedy = "Set initial_loss_scale=4294967296."
        yield SCALER.error(message, remedy)


def stages(config: MixedPrecisionConfig, situation: Situation) -> Iterator[Finding]:
    """First and last layers in BF16 fit into the first and the last pipeline stage."""
    if not (low_precision(config) and config.first_last_layers_bf16):
        return
    layers, parts = (situation.value(name) for name in ("num_layers", PIPELINE))
    counts = {name: getattr(config, name) for name in LAYER_COUNTS}
    missing = [n for n, v in (("num_layers", layers), (PIPELINE, parts)) if v is UNKNOWN]
    if layers is UNKNOWN or (parts is UNKNOWN and sum(counts.values()) < layers):
        message = f"BF16 layers against layers of a stage: {', '.join(missing)} unknown."
        yield STAGES.unknown(message, "Type --num-layers and --pp.")
    elif sum(counts.values()) >= layers:
        family = low_precision(config)
        text = " and ".join(f"{name}={count}" for name, count in counts.items())
        message = f"{text} of num_layers {layers}: no layer computes in {family}."
        yield STAGES.error(message, "Lower the counts, or use the base recipe.")
    elif config.fp8 and max(counts.values()) > layers // parts:
        name = max(counts, key=lambda each: counts[each])
        message = f"{name}={counts[name]} of the {layers // parts} layers of a pipeline stage."
        yield STAGES.error(message, f"Use {name}={layers // parts} or fewer stages.")


CHECKS = (base_mode, loss_scaler, stages)
