"""The values of the Nemotron recipes."""

from __future__ import annotations

import pytest

from mp_core import MixedPrecisionConfig, get_mixed_precision_config

BF16 = {
    "bf16": True,
    "params_dtype": "bfloat16",
    "pipeline_dtype": "bfloat16",
}
FP8 = {
    "fp8": "hybrid",
    "first_last_layers_bf16": True,
    "num_layers_at_start_in_bf16": 2,
    "num_layers_at_end_in_bf16": 2,
    "fp8_param_gather": True,
    "fp8_param": True,
}
NVFP4 = {
    "fp4": "e2m1",
    "fp8_param": False,
    "fp4_param_gather": True,
    "fp4_param": True,
    "first_last_layers_bf16": True,
}
RECIPES = {
    "nanov2_bf16_with_fp8_current_scaling_mixed": FP8 | {"fp8_recipe": "blockwise"},
    "nemotron_3_super_bf16_with_nvfp4_mixed": NVFP4 | {"num_layers_at_end_in_bf16": 14},
    "nemotron_3_ultra_bf16_with_nvfp4_mixed": NVFP4 | {"num_layers_at_end_in_bf16": 16},
    "nemotron_h_bf16_with_fp8_current_scaling_mixed": FP8 | {"fp8_recipe": "tensorwise"},
}


def set_by(name: str) -> dict[str, object]:
    """Return what the recipe gives to fields, where it is not the field's default."""
    defaults = MixedPrecisionConfig().to_dict()
    values = get_mixed_precision_config(name).to_dict()
    return {field: value for field, value in values.items() if value != defaults[field]}


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_recipe_sets_these_values_over_its_base(name: str) -> None:
    assert set_by(name) == BF16 | RECIPES[name]


def test_each_value_says_whether_recipe_or_base_set_it() -> None:
    config = get_mixed_precision_config("nemotron_3_super_bf16_with_nvfp4_mixed")
    assert str(config.origin("num_layers_at_start_in_bf16")) == "recipe"
    assert str(config.origin("grad_reduce_in_fp32")) == "base bf16_mixed"
