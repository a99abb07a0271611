"""Real configs of the installed Megatron-Core, and the words of FP8 and FP4 where no plugin is."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from mp_core import hookimpl, plugins

with warnings.catch_warnings():
    # Megatron-Core warns of each optional dependency that is absent.
    warnings.simplefilter("ignore")
    from megatron.core.distributed import DistributedDataParallelConfig
    from megatron.core.optimizer import OptimizerConfig
    from megatron.core.transformer import TransformerConfig

SHAPE = {"num_layers": 4, "hidden_size": 64, "num_attention_heads": 4}


class Words:
    """Makes FP8's values legal where no recipe plugin does."""

    @hookimpl
    def mp_vocabulary(self) -> dict[str, dict[str, str]]:
        words = {"mxfp8": "blocks of 32", "tensorwise": "one scale"}
        formats = {"e4m3": "one format", "hybrid": "both formats"}
        return {"fp8": formats, "fp8_recipe": words, "fp4": {"e2m1": "FP4"}}


@pytest.fixture(autouse=True)
def _words() -> Iterator[None]:
    words = Words()
    plugins.manager().register(words)
    yield
    plugins.manager().unregister(words)


@pytest.fixture
def model() -> Any:
    """A small dense transformer's config."""
    return TransformerConfig(**SHAPE)


@pytest.fixture
def optimizer() -> Any:
    """An optimizer's config."""
    return OptimizerConfig(use_distributed_optimizer=True)


@pytest.fixture
def ddp() -> Any:
    """A DDP config."""
    return DistributedDataParallelConfig(use_distributed_optimizer=True)
