"""A small real GPTModel with Megatron-Core's own DDP and optimizer, as a recipe configures them."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from megatron.core import parallel_state, tensor_parallel
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig
from megatron.core.models.gpt import GPTModel, gpt_layer_specs
from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
from megatron.core.transformer import TransformerConfig
from megatron.core.transformer.module import Float16Module

from mp_core import MixedPrecisionConfig, Plan, make_plan
from mp_plugin_megatron.trial.options import HEADS, SEQUENCE, VOCABULARY, Options
from mp_plugin_megatron.versions import can_shard_the_optimizer

LEARNING_RATE = 3e-3
GPU = torch.cuda.is_available()


class Trainee(NamedTuple):
    """A model, its optimizer, and the plan that says what was asked of them."""

    model: Any
    optimizer: Any
    asked: Plan


def has_transformer_engine() -> bool:
    """Return whether Transformer Engine's modules can be built here."""
    try:
        import transformer_engine.pytorch  # noqa: F401 # the import is the question
    except (ImportError, RuntimeError, OSError):
        # RuntimeError: its meta package without the CUDA core; OSError: a missing CUDA library.
        return False
    return GPU


def configs(options: Options) -> tuple[Any, Any, Any]:
    """Return new model, optimizer and DDP configs in which nothing is said of precision."""
    fused = has_transformer_engine()
    sharded = GPU or can_shard_the_optimizer()
    model = TransformerConfig(
        num_layers=options.layers,
        hidden_size=options.hidden,
        num_attention_heads=HEADS,
        hidden_dropout=0.0,
        attention_dropout=0.0,
        use_cpu_initialization=not GPU,
        masked_softmax_fusion=fused,
        bias_activation_fusion=fused,
        bias_dropout_fusion=fused,
        gradient_accumulation_fusion=False,
    )
    optimizer = OptimizerConfig(
        optimizer="adam", lr=LEARNING_RATE, clip_grad=1.0, use_distributed_optimizer=sharded
    )
    return model, optimizer, DistributedDataParallelConfig(use_distributed_optimizer=sharded)


def runnable(config: MixedPrecisionConfig) -> MixedPrecisionConfig:
    """Return *config* without the arithmetic that only Transformer Engine on a GPU has."""
    return config if has_transformer_engine() else config.replace(fp8=None, fp4=None)


def build(options: Options, config: MixedPrecisionConfig) -> Trainee:
    """Return the model and optimizer, configured by nothing but *config* through setup()."""
    asked = make_plan(config, *configs(options), check="off")
    made = configs(options)
    runnable(config).setup(*made, check="off")
    model_config, optimizer_config, ddp_config = made
    _seed(options.seed)
    model = GPTModel(
        config=model_config,
        transformer_layer_spec=_layer_spec(),
        vocab_size=VOCABULARY,
        max_sequence_length=SEQUENCE,
        parallel_output=True,
    )
    model = model.cuda() if GPU else model
    if model_config.bf16 or model_config.fp16:
        model = Float16Module(model_config, model)
    model = DistributedDataParallel(model_config, ddp_config, model)
    optimizer = get_megatron_optimizer(optimizer_config, [model])
    return Trainee(model, optimizer, asked)


def _layer_spec() -> Any:
    if has_transformer_engine():
        return gpt_layer_specs.get_gpt_layer_with_transformer_engine_spec()
    return gpt_layer_specs.get_gpt_layer_local_spec()


def _seed(seed: int) -> None:
    parallel_state.initialize_model_parallel(1, 1)
    if GPU:
        tensor_parallel.model_parallel_cuda_manual_seed(seed)
        return
    # Megatron-Core's tracker for inference keeps no CUDA random states, which a CPU has none of.
    tensor_parallel.random.initialize_rng_tracker(inference_rng_tracker=True)
    torch.manual_seed(seed)
