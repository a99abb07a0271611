"""The loop: forward, scaled backward, gradient reduction, optimizer step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import megatron.core
import torch
from megatron.core.distributed import finalize_model_grads
from torch import distributed

from mp_core import MixedPrecisionConfig
from mp_plugin_megatron.trial.effective import rows
from mp_plugin_megatron.trial.model import GPU, Trainee, build
from mp_plugin_megatron.trial.options import SEQUENCE, Options
from mp_plugin_megatron.trial.text import batches

Emit = Callable[[dict[str, Any]], None]


class Step(NamedTuple):
    """What one step gave: the mean loss of all ranks, and the scale the loss had."""

    loss: float
    loss_scale: float
    skipped: bool


def train(options: Options, config: MixedPrecisionConfig, emit: Emit) -> dict[str, Any]:
    """Train and return the result as plain data; each step is emitted as it ends."""
    trainee = build(options, config)
    data = batches(options.seed, distributed.get_rank())
    steps: list[Step] = []
    start = time.perf_counter()
    for number in range(1, options.steps + 1):
        steps.append(_step(trainee, *next(data)))
        rate = number * options.tokens_per_step / (time.perf_counter() - start)
        emit({"step": number, **steps[-1]._asdict(), "tokens_per_second": rate})
    return _result(options, trainee, steps, rate)


def _step(trainee: Trainee, inputs: torch.Tensor, labels: torch.Tensor) -> Step:
    model, optimizer = trainee.model, trainee.optimizer
    device = "cuda" if GPU else "cpu"
    inputs, labels = inputs.to(device), labels.to(device)
    positions = torch.arange(SEQUENCE, device=device).expand_as(inputs)
    mask = torch.ones(1, 1, SEQUENCE, SEQUENCE, dtype=torch.bool, device=device).triu(1)
    model.zero_grad_buffer()
    optimizer.zero_grad()
    loss = model(inputs, positions, mask, labels=labels).float().mean()
    scale = optimizer.get_loss_scale().item()
    optimizer.scale_loss(loss).backward()
    finalize_model_grads([model])
    updated, _, _ = optimizer.step()
    mean = loss.detach().clone()
    distributed.all_reduce(mean)
    return Step(mean.item() / distributed.get_world_size(), scale, not updated)


def _result(options: Options, trainee: Trainee, steps: list[Step], rate: float) -> dict[str, Any]:
    return {
        "recipe": trainee.asked.recipe,
        "ranks": options.ranks,
        "steps": options.steps,
        "seed": options.seed,
        "layers": options.layers,
        "hidden": options.hidden,
        "device": torch.cuda.get_device_name() if GPU else "cpu",
        "versions": {"megatron-core": megatron.core.__version__, "torch": torch.__version__},
        "losses": [step.loss for step in steps],
        "loss_scales": [step.loss_scale for step in steps],
        "final_loss_scale": trainee.optimizer.get_loss_scale().item(),
        "skipped": [number for number, step in enumerate(steps, 1) if step.skipped],
        "finite": all(math.isfinite(step.loss) for step in steps),
        "ranks_agree": _ranks_agree(trainee),
        "tokens_per_second": rate,
        "effective": [row._asdict() for row in rows(trainee)],
    }


def _ranks_agree(trainee: Trainee) -> bool:
    """Return whether every parameter of every rank equals the first rank's, bit for bit."""
    mine = torch.cat([p.detach().float().flatten() for p in trainee.model.parameters()])
    first = mine.clone()
    distributed.broadcast(first, 0)
    equal = torch.tensor([float(torch.equal(mine, first))], device=mine.device)
    distributed.all_reduce(equal, op=distributed.ReduceOp.MIN)
    return bool(equal.item())
