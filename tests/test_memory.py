"""Bytes per parameter, and what of them a GPU of a layout holds, without any plugin's precision."""

from __future__ import annotations

from typing import Any

import pytest

from mp_core import MixedPrecisionConfig, Situation
from mp_core.errors import InvalidPrecision
from mp_core.footprint import Row, per_gpu, shards
from mp_core.memory import parameter_cost, weight_bytes

BF16 = MixedPrecisionConfig(bf16=True, params_dtype="bfloat16")
FP16 = MixedPrecisionConfig(fp16=True, params_dtype="float16", grad_reduce_in_fp32=False)
FP32 = MixedPrecisionConfig(fp32=True, params_dtype="float32")
AWARE = {"use_precision_aware_optimizer": True, "use_distributed_optimizer": True}
SMALL = {"exp_avg_dtype": "bfloat16", "exp_avg_sq_dtype": "bfloat16"}
FP8 = {"exp_avg_dtype": "fp8", "exp_avg_sq_dtype": "fp8"}
#: A model of 4 layers with experts, of sizes that split by 2.
MODEL = {
    "add_bias_linear": False,
    "ffn_hidden_size": 64,
    "gated_linear_unit": True,
    "hidden_size": 32,
    "moe_ffn_hidden_size": 16,
    "moe_layer_freq": [0, 1, 1, 1],
    "normalization": "RMSNorm",
    "num_attention_heads": 4,
    "num_layers": 4,
    "num_moe_experts": 8,
    "untie_embeddings_and_output_weights": True,
    "vocab_size": 128,
}


def rows(config: MixedPrecisionConfig = BF16, **facts: Any) -> dict[str, Row]:
    """Return what the fullest GPU holds, by kind."""
    return {row.kind: row for row in per_gpu(config, Situation(MODEL | facts))}


def total(config: MixedPrecisionConfig, ranks: int, **facts: Any) -> float:
    """Return the bytes per parameter on one of so many ranks."""
    return parameter_cost(config, Situation(facts)).sharded(ranks).total()


@pytest.mark.parametrize(
    ("config", "alone", "eight", "many"),
    [(FP16, 20, 6, 4.25), (BF16, 18, 7.5, 6.1875), (FP32, 16, 9, 8.125)],
)
def test_the_documented_numbers_hold(
    config: MixedPrecisionConfig, alone: float, eight: float, many: float
) -> None:
    assert [total(config, ranks) for ranks in (1, 8, 64)] == [alone, eight, many]


@pytest.mark.parametrize(
    ("reduce", "moments", "expected"),
    [
        (True, SMALL, [12, 6.75, 6.09]),
        (False, SMALL, [10, 4.75, 4.09]),
        (True, FP8, [10, 6.5, 6.06]),
    ],
)
def test_the_precision_aware_optimizer_keeps_remainders_of_bf16(
    reduce: bool, moments: dict[str, str], expected: list[float]
) -> None:
    config = BF16.replace(grad_reduce_in_fp32=reduce)
    found = [round(total(config, ranks, **AWARE, **moments), 2) for ranks in (1, 8, 64)]
    assert found == expected


def test_fp16_parameters_have_no_remainder() -> None:
    cost = parameter_cost(FP16, Situation(AWARE))
    assert (cost.main, cost.moments) == (4, 8)


def test_an_optimizer_of_unknown_state_is_refused_by_name() -> None:
    with pytest.raises(InvalidPrecision, match="'muon' is not known"):
        parameter_cost(BF16, Situation({"optimizer": "muon"}))


def test_a_dtype_of_unknown_size_is_refused_by_name() -> None:
    with pytest.raises(InvalidPrecision, match="exp_avg_dtype=int3"):
        parameter_cost(BF16, Situation({**AWARE, "exp_avg_dtype": "int3"}))


def test_a_precision_that_no_plugin_knows_has_no_made_up_bytes() -> None:
    config = MixedPrecisionConfig(bf16=True, fp8="e4m3", fp8_recipe="acme")
    with pytest.raises(InvalidPrecision, match="no installed plugin knows the memory of 'acme'"):
        weight_bytes(config, Situation())


def test_experts_share_their_state_among_fewer_ranks() -> None:
    facts = {
        "use_distributed_optimizer": True,
        "world_size": 64,
        "tensor_model_parallel_size": 2,
        "pipeline_model_parallel_size": 2,
        "expert_model_parallel_size": 8,
        "expert_tensor_parallel_size": 1,
    }
    assert shards(Situation(facts)) == 16
    assert shards(Situation(facts), experts=True) == 4


def test_without_the_distributed_optimizer_each_rank_has_the_whole_state() -> None:
    assert shards(Situation({"data_parallel_size": 64})) == 1


def test_expert_parallelism_splits_experts_and_nothing_else() -> None:
    whole, split = rows(), rows(expert_model_parallel_size=4)
    assert split["experts"].parameters == whole["experts"].parameters / 4
    assert {kind for kind in whole if whole[kind] != split[kind]} == {"experts"}


def test_tensor_parallelism_splits_matrices_but_no_norm_and_no_router() -> None:
    whole, split = rows(), rows(tensor_model_parallel_size=2)
    assert {kind for kind in whole if whole[kind] == split[kind]} == {"norms", "router"}
    assert split["attention"].parameters == whole["attention"].parameters / 2


def test_a_pipelines_fullest_stage_is_told_and_a_tied_output_is_there_twice() -> None:
    stages = rows(pipeline_model_parallel_size=4, untie_embeddings_and_output_weights=False)
    assert stages["embedding"].parameters == 128 * 32
    assert stages["experts"].parameters == rows()["experts"].parameters / 3
    assert "mlp" not in stages
