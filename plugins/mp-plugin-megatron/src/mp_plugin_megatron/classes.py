"""Megatron-Core's config classes, as the installed version has them."""

from __future__ import annotations

import importlib
import sys
from typing import Any

#: Module and class of each role; the model's is the base of every transformer config.
CLASSES = {
    "model": ("megatron.core.model_parallel_config", "ModelParallelConfig"),
    "optimizer": ("megatron.core.optimizer.optimizer_config", "OptimizerConfig"),
    "ddp": (
        "megatron.core.distributed.distributed_data_parallel_config",
        "DistributedDataParallelConfig",
    ),
}
TRANSFORMER = ("megatron.core.transformer.transformer_config", "TransformerConfig")


def role_of(target: object) -> str | None:
    """Return ``model``, ``optimizer`` or ``ddp``, or None for an object of another framework."""
    for role, (module, name) in CLASSES.items():
        # An object's class is loaded already: importing Megatron here would only cost seconds.
        loaded = sys.modules.get(module)
        if loaded is not None and isinstance(target, getattr(loaded, name)):
            return role
    return None


def config_class(role: str) -> Any:
    """Return the installed class that holds the most fields of *role*; imports Megatron-Core."""
    module, name = TRANSFORMER if role == "model" else CLASSES[role]
    return getattr(importlib.import_module(module), name)
