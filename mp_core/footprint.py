"""What a model's parameters, gradients and optimizer state take on one GPU of a layout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from mp_core.counting import KINDS, Count, count
from mp_core.memory import Cost, parameter_cost

if TYPE_CHECKING:
    from mp_core.config import MixedPrecisionConfig
    from mp_core.situation import Situation

TP, PP, CP = (f"{n}_parallel_size" for n in ("tensor_model", "pipeline_model", "context"))
EXPERT_TP, EXPERT = "expert_tensor_parallel_size", "expert_model_parallel_size"


class Row(NamedTuple):
    """The parameters of a kind that one GPU holds, and their bytes."""

    kind: str
    parameters: float
    cost: Cost


def per_gpu(config: MixedPrecisionConfig, situation: Situation) -> list[Row]:
    """Return a row for each kind of parameter on the GPU that holds most, ordered as KINDS.

    Layers that the recipe keeps in 16 bits are the kind ``bf16_layers``. A parallel size that
    nobody gave counts as 1. Activations, workspaces and fragmentation are not in it.
    """
    stages: dict[int, list[Count]] = {}
    counts = count(situation)
    layers = 1 + max(each.layer or 0 for each in counts)
    for each in counts:
        for stage in _stages(each, layers, situation):
            stages.setdefault(stage, []).append(each)
    kept = _kept_layers(config, layers)
    rows = [_rows(config, situation, held, kept) for _, held in sorted(stages.items())]
    return max(rows, key=lambda found: sum(row.cost.total() for row in found))


def shards(situation: Situation, *, experts: bool = False) -> int:
    """Return how many ranks share the optimizer's state: 1 without the distributed optimizer.

    experts: of the experts' parameters, which fewer ranks hold. From ``data_parallel_size`` or
    ``world_size``; one that nobody gave counts as 1.
    """
    if situation.value("use_distributed_optimizer") is not True:
        return 1
    model = _size(situation, TP) * _size(situation, PP)
    given = _size(situation, "data_parallel_size") * model * _size(situation, CP)
    world = situation.value("world_size") or given
    split = _size(situation, PP) * _expert_split(situation) if experts else model
    return max(1, int(world) // split)


def _rows(
    config: MixedPrecisionConfig, situation: Situation, counts: list[Count], kept: set[int]
) -> list[Row]:
    rows: dict[str, Row] = {}
    costs = {m: parameter_cost(config, situation, matrix=m) for m in (True, False)}
    for each in counts:
        low = each.matrix and each.layer not in kept
        kind = "bf16_layers" if each.matrix and not low else each.kind
        here = each.parameters / _split(each, situation)
        ranks = shards(situation, experts=each.kind == "experts")
        cost = costs[low].sharded(ranks).times(here)
        before = rows.get(kind, Row(kind, 0, Cost(0, 0, 0, 0)))
        added = Cost(*(a + b for a, b in zip(before.cost, cost, strict=True)))
        rows[kind] = Row(kind, before.parameters + here, added)
    return [rows[kind] for kind in (*KINDS, "bf16_layers") if kind in rows]


def _kept_layers(config: MixedPrecisionConfig, number: int) -> set[int]:
    """Return the layers that stay in 16 bits although the recipe computes in fewer."""
    if not config.first_last_layers_bf16 or not (config.fp8 or config.fp4):
        return set()
    layers = range(number)
    last = len(layers) - config.num_layers_at_end_in_bf16
    return {*layers[: config.num_layers_at_start_in_bf16], *layers[max(last, 0) :]}


def _stages(each: Count, layers: int, situation: Situation) -> Iterator[int]:
    """Yield the pipeline stages that hold these parameters."""
    stages = _size(situation, PP)
    if each.layer is not None:
        yield each.layer * stages // layers
        return
    if each.kind == "embedding":
        yield 0
    tied = each.kind == "embedding" and not situation.value("untie_embeddings_and_output_weights")
    # The last stage has its own copy of an embedding that is the output too.
    if each.kind != "embedding" or (tied and stages > 1):
        yield stages - 1


def _split(each: Count, situation: Situation) -> int:
    if each.kind in ("norms", "router"):
        return 1
    return _expert_split(situation) if each.kind == "experts" else _size(situation, TP)


def _expert_split(situation: Situation) -> int:
    # Megatron's default for the experts' tensor parallelism is the model's.
    tensor = situation.value(EXPERT_TP) or _size(situation, TP)
    return int(tensor) * _size(situation, EXPERT)


def _size(situation: Situation, name: str) -> int:
    return int(situation.value(name) or 1)
