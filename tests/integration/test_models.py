"""Each published model under each recipe on an H100 and on a B200: what stands against it.

Source of tests/data/models.json: the models' own configs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mp_core import MIXED_PRECISION_RECIPES, Finding, Situation, check

DATA = Path(__file__).parents[1] / "data"
MODELS = json.loads(DATA.joinpath("models.json").read_text(encoding="utf-8"))["models"]
NEW = {"cuda": "13.0", "transformer_engine": "2.16.1", "megatron_core": "0.18.2", "cudnn": "9.21"}
LAYOUT = {
    "pipeline_model_parallel_size": 1,
    "context_parallel_size": 1,
    "expert_tensor_parallel_size": 1,
    "micro_batch_size": 1,
    "seq_length": 4096,
    "overlap_param_gather": False,
    "use_megatron_fsdp": False,
    "use_distributed_optimizer": True,
}
#: By model at TP 8: what a rank has of a size, that FP8 or blocks of 32 do not divide.
NARROW = {
    "nemotron-h-8b": ((2 * 64 * 128 + 128 + 2 * 8 * 128) / 8, "MX NV"),
    "nemotron-nano-9b-v2": (15680 / 8, "CS DS MX NV SC"),
    "qwen2.5-0.5b": (14 * 64 / 8, "MX NV"),
}
#: 14 heads are no whole number on each of 8 ranks.
REFUSED = {"qwen2.5-0.5b": {"MG115"}}


def situation(name: str, gpu: str, tp: int) -> Situation:
    shape: dict[str, Any] = dict(MODELS[name])
    latent = shape.pop("mla", None) or {}
    shape["hybrid_override_pattern"] = shape.pop("hybrid_pattern", None)
    layers = [0] * shape.pop("dense_layers_at_start", 0)
    layers += [1] * (shape["num_layers"] - len(layers))
    facts = {**shape, **latent, **LAYOUT, **NEW, "multi_latent_attention": bool(latent)}
    if shape.get("num_moe_experts"):
        facts |= {"moe_layer_freq": layers, "expert_model_parallel_size": 8}
    split = {"tensor_model_parallel_size": tp, "sequence_parallel": tp > 1}
    return Situation({"device": gpu, **facts, **split}, environment={})


def errors(name: str, gpu: str, tp: int) -> dict[str, str]:
    """Return the messages of errors by code, of all recipes together."""
    where = situation(name, gpu, tp)
    found = [each for recipe in MIXED_PRECISION_RECIPES for each in check(recipe, where)]
    wrong = [each for each in found if each.severity == "error"]
    return {code: " ".join(e.message for e in wrong if e.code == code) for code in codes(wrong)}


def codes(findings: list[Finding]) -> set[str]:
    return {each.code for each in findings}


@pytest.mark.parametrize("gpu", ["h100", "b200"])
@pytest.mark.parametrize("tp", [1, 8])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_only_a_device_or_a_width_that_does_not_divide_stands_against_a_model(
    name: str, gpu: str, tp: int
) -> None:
    found = errors(name, gpu, tp)
    on_hopper = {"MX201", "NV201"} if gpu == "h100" else set()
    local, families = NARROW.get(name, (0, "")) if tp > 1 else (0, "")
    widths = {f"{family}301" for family in families.split()}
    assert set(found) == on_hopper | widths | (REFUSED.get(name, set()) if tp > 1 else set())
    assert all(f"= {local:g} is no multiple" in found[code] for code in widths)


@pytest.mark.parametrize("gpu", ["h100", "b200"])
@pytest.mark.parametrize("name", sorted(MODELS))
def test_nothing_is_unknown_where_everything_is_given(name: str, gpu: str) -> None:
    where = situation(name, gpu, 8)
    found = [each for recipe in MIXED_PRECISION_RECIPES for each in check(recipe, where)]
    assert [str(each) for each in found if each.severity == "unknown"] == []
