"""Bytes per parameter of each precision, at 1, 8 and 64 ranks that share the optimizer's state.

The formulas are derived from the sources that each plugin's answer names.
"""

from __future__ import annotations

from typing import Any

import pytest

from mp_core import Situation, get_mixed_precision_config
from mp_core.footprint import Row, per_gpu
from mp_core.memory import basis, parameter_cost, weight_bytes

OFF = "fp8_param_gather=false"
DELAYED, CURRENT = "bf16_with_fp8_delayed_scaling_mixed", "bf16_with_fp8_current_scaling_mixed"
SUBCHANNEL, MXFP8 = "bf16_with_fp8_subchannel_scaling_mixed", "bf16_with_mxfp8_mixed"
NVFP4 = "bf16_with_nvfp4_mixed"
TABLE = [
    (f"{DELAYED}:{OFF}", "h100", (20, 9.5, 8.19)),
    (f"{DELAYED}:{OFF}", "b200", (19, 8.5, 7.19)),
    (f"{DELAYED}:fp8_param_gather=true", "h100", (18, 7.5, 6.19)),
    (f"{DELAYED}:fp8_param_gather=true", "b200", (17, 6.5, 5.19)),
    (f"{CURRENT}:{OFF}", "h100", (20, 9.5, 8.19)),
    (f"{CURRENT}:{OFF}", "b200", (19, 8.5, 7.19)),
    (f"{CURRENT}:fp8_param_gather=true", "h100", (18, 7.5, 6.19)),
    (f"{CURRENT}:fp8_param_gather=true", "b200", (17, 6.5, 5.19)),
    (f"{CURRENT}:fp8_param_gather=true", "rtx5090", (18, 7.5, 6.19)),
    (f"{SUBCHANNEL}:fp8_param_gather=true", "h100", (18, 7.5, 6.19)),
    (f"{MXFP8}:{OFF}", "b200", (20.06, 9.56, 8.25)),
    (MXFP8, "b200", (18.06, 7.56, 6.25)),
    (f"{NVFP4}:fp4_param_gather=false", "b200", (19.13, 8.63, 7.31)),
    (NVFP4, "b200", (17.13, 6.63, 5.31)),
]
LLAMA = {
    "add_bias_linear": False,
    "device": "h100",
    "ffn_hidden_size": 14336,
    "gated_linear_unit": True,
    "hidden_size": 4096,
    "normalization": "RMSNorm",
    "num_attention_heads": 32,
    "num_layers": 32,
    "num_query_groups": 8,
    "untie_embeddings_and_output_weights": True,
    "vocab_size": 128256,
}
AWARE = {
    "use_precision_aware_optimizer": True,
    "use_distributed_optimizer": True,
    "exp_avg_dtype": "bfloat16",
    "exp_avg_sq_dtype": "bfloat16",
}


def rows(name: str, **facts: Any) -> dict[str, Row]:
    """Return the rows of Llama 3 8B on one GPU, by kind."""
    config = get_mixed_precision_config(name)
    return {row.kind: row for row in per_gpu(config, Situation(LLAMA | facts))}


def weights(name: str) -> float:
    """Return the bytes of Llama 3 8B's weights."""
    return sum(row.cost.weights for row in rows(name).values())


@pytest.mark.parametrize(("name", "device", "expected"), TABLE)
def test_a_weight_takes_these_bytes(name: str, device: str, expected: tuple[float, ...]) -> None:
    # Every row of the table has gradients in 32 bits, which not every recipe asks for.
    config = get_mixed_precision_config(name, grad_reduce_in_fp32=True)
    cost = parameter_cost(config, Situation({"device": device}))
    found = [cost.sharded(ranks).total() for ranks in (1, 8, 64)]
    assert found == [pytest.approx(each, abs=0.0051) for each in expected]


@pytest.mark.parametrize("name", sorted({name for name, _, _ in TABLE}))
def test_each_answer_is_marked_derived_and_has_a_source(name: str) -> None:
    config = get_mixed_precision_config(name)
    kind, source = basis(config, Situation({"device": "b200"}))
    assert (kind, "TransformerEngine" in source) == ("derived", True)


def test_fp8_on_bf16_parameters_takes_more_memory_than_bf16() -> None:
    assert weights(f"{CURRENT}:{OFF}") > 1.8 * weights("bf16_mixed")


def test_fp8_parameters_save_nothing_on_hopper() -> None:
    assert weights(f"{CURRENT}:fp8_param_gather=true") == weights("bf16_mixed")


def test_an_unknown_device_is_counted_at_most_and_says_so() -> None:
    said = weight_bytes(get_mixed_precision_config(CURRENT), Situation())
    assert "device is not known" in said.text


def test_layers_kept_in_bf16_are_a_row_of_their_own() -> None:
    name = f"{CURRENT}:first_last_layers_bf16=true,num_layers_at_start_in_bf16=1"
    found = rows(f"{name},num_layers_at_end_in_bf16=1,{OFF}")
    assert found["bf16_layers"].cost.weights == 2 * found["bf16_layers"].parameters
    assert found["bf16_layers"].parameters * 15 == (
        found["attention"].parameters + found["mlp"].parameters
    )


@pytest.mark.parametrize(
    ("name", "main"), [("bf16_mixed", 2), (f"{DELAYED}:{OFF}", 2), (f"{CURRENT}:{OFF}", 4)]
)
def test_remainders_are_for_bf16_and_delayed_scaling_only(name: str, main: float) -> None:
    config = get_mixed_precision_config(name)
    assert parameter_cost(config, Situation(AWARE)).main == main


def test_fp8_parameters_have_no_remainder_under_delayed_scaling() -> None:
    config = get_mixed_precision_config(f"{DELAYED}:fp8_param_gather=true")
    assert parameter_cost(config, Situation(AWARE)).main == 4
    assert parameter_cost(config, Situation(AWARE), matrix=False).main == 2
