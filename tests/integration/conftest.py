"""Real Megatron-Core configs for the tests that need every plugin."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

Configs = tuple[Any, Any, Any]


@pytest.fixture
def fresh() -> Callable[..., Configs]:
    """A maker of new model, optimizer and DDP configs; keywords go to the model's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from megatron.core.distributed import DistributedDataParallelConfig
        from megatron.core.optimizer import OptimizerConfig
        from megatron.core.transformer import TransformerConfig

    def make(**values: Any) -> Configs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shape = {"num_layers": 4, "hidden_size": 64, "num_attention_heads": 4, **values}
            model = TransformerConfig(**shape)
            ddp = DistributedDataParallelConfig(use_distributed_optimizer=True)
            return model, OptimizerConfig(use_distributed_optimizer=True), ddp

    return make


@pytest.fixture
def state() -> Callable[[Configs], list[dict[str, Any]]]:
    """A reader of everything the configs hold, but for functions, which are never equal."""

    def read(configs: Configs) -> list[dict[str, Any]]:
        return [{k: v for k, v in vars(c).items() if not callable(v)} for c in configs]

    return read
