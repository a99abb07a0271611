"""Time get and setup beside a plain dataclass and its copy loop, in this process; print JSON."""

from __future__ import annotations

import dataclasses
import json
import logging
import time
import warnings
from collections.abc import Callable
from typing import Any

import mp_core

RECIPE = "bf16_with_mxfp8_mixed"
ROUNDS = 300
CALLS = 20

#: The same fields and defaults, and nothing else.
Plain = dataclasses.make_dataclass(
    "Plain", [(f.name, f.type, f.default) for f in dataclasses.fields(mp_core.MixedPrecisionConfig)]
)


def plain_bf16() -> Any:
    """Return the base recipe as a plain dataclass."""
    import torch

    dtype = torch.bfloat16
    return Plain(bf16=True, params_dtype=dtype, pipeline_dtype=dtype, autocast_dtype=dtype)


def plain_recipe() -> Any:
    """Return the recipe as a plain dataclass, built on the base as the plugin builds it."""
    config = plain_bf16()
    config.fp8 = "e4m3"
    config.fp8_recipe = "mxfp8"
    config.fp8_param_gather = True
    config.reuse_grad_buf_for_mxfp8_param_ag = True
    return config


def copy_loop(config: Any, targets: tuple[object, ...]) -> None:
    """Copy every field of *config* to every target that has one of its name."""
    for target in targets:
        for field in dataclasses.fields(config):
            if hasattr(target, field.name):
                setattr(target, field.name, getattr(config, field.name))


def real_configs() -> tuple[object, ...]:
    """Return new Megatron-Core configs: model, optimizer, data parallel."""
    from megatron.core.distributed import DistributedDataParallelConfig
    from megatron.core.optimizer import OptimizerConfig
    from megatron.core.transformer import TransformerConfig

    model = TransformerConfig(num_layers=2, hidden_size=64, num_attention_heads=4)
    return model, OptimizerConfig(), DistributedDataParallelConfig()


def main() -> None:
    """Print the seconds of one call of each, one number for each round."""
    logging.getLogger("mp_core").addHandler(logging.NullHandler())
    warnings.simplefilter("ignore")
    config, plain = mp_core.get_mixed_precision_config(RECIPE), plain_recipe()
    calls: dict[str, Callable[[tuple[object, ...]], object]] = {
        "get": lambda _: mp_core.get_mixed_precision_config(RECIPE),
        "setup": lambda targets: config.setup(*targets),
        "plain get": lambda _: plain_recipe(),
        "copy loop": lambda targets: copy_loop(plain, targets),
    }
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(ROUNDS):
        names = list(calls) if number % 2 else list(calls)[::-1]
        for name in names:
            taken[name].append(_seconds(calls[name]))
    print(json.dumps(taken))


def _seconds(call: Callable[[tuple[object, ...]], object]) -> float:
    """Return the mean of some calls, each on configs that nothing was applied to."""
    fresh = [real_configs() for _ in range(CALLS)]
    start = time.perf_counter()
    for targets in fresh:
        call(targets)
    return (time.perf_counter() - start) / CALLS


if __name__ == "__main__":
    main()
