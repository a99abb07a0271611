"""The values of the NVFP4 recipe."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig, get_mixed_precision_config

BF16 = {
    "bf16": True,
    "params_dtype": "bfloat16",
    "pipeline_dtype": "bfloat16",
}
NVFP4 = {
    "fp4": "e2m1",
    "fp8_param": False,
    "fp4_param_gather": True,
    "fp4_param": True,
}


def set_by(name: str) -> dict[str, object]:
    """Return what the recipe gives to fields, where it is not the field's default."""
    defaults = MixedPrecisionConfig().to_dict()
    values = get_mixed_precision_config(name).to_dict()
    return {field: value for field, value in values.items() if value != defaults[field]}


def test_recipe_sets_these_values_over_its_base() -> None:
    assert set_by("bf16_with_nvfp4_mixed") == BF16 | NVFP4


def test_fp8_is_off_and_no_layer_is_kept_in_bf16() -> None:
    config = get_mixed_precision_config("bf16_with_nvfp4_mixed")
    assert config.fp8 is None
    assert not config.first_last_layers_bf16


def test_each_value_says_whether_recipe_or_base_set_it() -> None:
    config = get_mixed_precision_config("bf16_with_nvfp4_mixed")
    assert str(config.origin("fp4_recipe")) == "recipe"
    assert str(config.origin("grad_reduce_in_fp32")) == "base bf16_mixed"
