"""Runs that were measured and published: an error about one of them would be a false alarm.

Source of tests/data/published_runs.json: the performance summary of Megatron-Bridge's
documentation; shapes from tests/data/models.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mp_core import Finding, Situation, check

DATA = Path(__file__).parents[1] / "data"
RUNS = json.loads(DATA.joinpath("published_runs.json").read_text(encoding="utf-8"))["runs"]
MODELS = json.loads(DATA.joinpath("models.json").read_text(encoding="utf-8"))["models"]


def situation(run: dict[str, Any], **more: Any) -> Situation:
    shape = dict(MODELS[run["model"]])
    latent = shape.pop("mla", None)
    facts = {**shape, **(latent or {}), "multi_latent_attention": bool(latent)}
    layout = {
        "tensor_model_parallel_size": run["tp"],
        "pipeline_model_parallel_size": run["pp"],
        "context_parallel_size": run["cp"],
        "expert_model_parallel_size": run["ep"] or 1,
        "expert_tensor_parallel_size": 1,
        "sequence_parallel": run["tp"] > 1,
        "micro_batch_size": run["micro_batch"],
        "seq_length": run["seq_length"],
        "use_megatron_fsdp": bool(run["fsdp"]),
        "use_distributed_optimizer": True,
    }
    versions = {"cuda": "12.9", "transformer_engine": "2.9", "megatron_core": "0.18"}
    given = {"device": run["gpu"], **facts, **layout, **versions, **more}
    return Situation(given, environment={})


def errors(run: dict[str, Any], **more: Any) -> list[Finding]:
    found = check(run["recipe"], situation(run, **more))
    return [finding for finding in found if finding.severity == "error"]


@pytest.mark.parametrize(
    "run", RUNS, ids=[f"{r['model']}-{r['gpu']}-{r['recipe']}-{i}" for i, r in enumerate(RUNS)]
)
def test_a_run_that_was_measured_gets_no_error(run: dict[str, Any]) -> None:
    assert errors(run) == []


@pytest.mark.parametrize("run", [r for r in RUNS if "mxfp8" in r["recipe"] or "fp4" in r["recipe"]])
def test_the_same_run_on_hopper_gets_an_error(run: dict[str, Any]) -> None:
    assert errors({**run, "gpu": "h100"}) != []
