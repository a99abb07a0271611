"""The values of the recipes with delayed scaling."""

from __future__ import annotations

import pytest

from mp_core import MixedPrecisionConfig, get_mixed_precision_config

BF16 = {
    "bf16": True,
    "params_dtype": "bfloat16",
    "pipeline_dtype": "bfloat16",
}
FP16 = {
    "fp16": True,
    "params_dtype": "float16",
    "pipeline_dtype": "float16",
    "grad_reduce_in_fp32": False,
}
DELAYED = {
    "fp8": "hybrid",
    "fp8_amax_history_len": 1024,
    "fp8_amax_compute_algo": "max",
    "fp8_param_gather": True,
    "fp8_param": True,
}


def set_by(name: str) -> dict[str, object]:
    """Return what the recipe gives to fields, where it is not the field's default."""
    defaults = MixedPrecisionConfig().to_dict()
    values = get_mixed_precision_config(name).to_dict()
    return {field: value for field, value in values.items() if value != defaults[field]}


@pytest.mark.parametrize(
    ("name", "base"),
    [("bf16_with_fp8_delayed_scaling_mixed", BF16), ("fp16_with_fp8_delayed_scaling_mixed", FP16)],
)
def test_recipe_sets_these_values_over_its_base(name: str, base: dict[str, object]) -> None:
    assert set_by(name) == base | DELAYED


@pytest.mark.parametrize("mode", ["bf16", "fp16"])
def test_older_name_gives_the_same_values(mode: str) -> None:
    assert set_by(f"{mode}_with_fp8_mixed") == set_by(f"{mode}_with_fp8_delayed_scaling_mixed")


def test_each_value_says_whether_recipe_or_base_set_it() -> None:
    config = get_mixed_precision_config("bf16_with_fp8_mixed")
    assert str(config.origin("fp8_margin")) == "recipe"
    assert str(config.origin("grad_reduce_in_fp32")) == "base bf16_mixed"
