"""The values of bf16_mixed and fp16_mixed."""

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


def set_by(name: str) -> dict[str, object]:
    """Return what the recipe gives to fields, where it is not the field's default."""
    defaults = MixedPrecisionConfig().to_dict()
    values = get_mixed_precision_config(name).to_dict()
    return {field: value for field, value in values.items() if value != defaults[field]}


@pytest.mark.parametrize(("name", "values"), [("bf16_mixed", BF16), ("fp16_mixed", FP16)])
def test_recipe_sets_these_values(name: str, values: dict[str, object]) -> None:
    assert set_by(name) == values


def test_bf16_reduces_gradients_in_fp32_and_fp16_does_not() -> None:
    assert get_mixed_precision_config("bf16_mixed").grad_reduce_in_fp32
    assert not get_mixed_precision_config("fp16_mixed").grad_reduce_in_fp32


def test_neither_recipe_turns_autocast_on() -> None:
    assert not get_mixed_precision_config("bf16_mixed").autocast_enabled
    assert not get_mixed_precision_config("fp16_mixed").autocast_enabled
