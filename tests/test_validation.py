"""Nonsense in a config is refused with the legal values."""

from __future__ import annotations

from typing import Any

import pytest

from mp_core import MixedPrecisionConfig


def assert_refused(match: str, **values: Any) -> None:
    with pytest.raises(ValueError, match=match):
        MixedPrecisionConfig(**values).validate()


def test_two_base_modes_are_refused() -> None:
    assert_refused("fp16=True and bf16=True", bf16=True, fp16=True)


def test_a_mode_with_the_other_modes_dtype_is_refused() -> None:
    assert_refused("legal: 'bfloat16'", bf16=True, params_dtype="fp16")
    assert_refused("legal: 'float32'", fp32=True, params_dtype="bf16")
    MixedPrecisionConfig(bf16=True, params_dtype="fp32").validate()


def test_a_value_that_no_installed_plugin_knows_is_refused() -> None:
    assert_refused("fp8='banana'", bf16=True, fp8="banana")
    assert_refused("fp8_recipe='banana'", fp8_recipe="banana")


@pytest.mark.parametrize("scale", [0, -1, float("inf"), float("nan")])
def test_a_loss_scale_that_is_not_a_positive_number_is_refused(scale: float) -> None:
    assert_refused("loss_scale=.*legal: a positive number", fp16=True, loss_scale=scale)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("fp8_amax_history_len", 0),
        ("hysteresis", 0),
        ("loss_scale_window", 0),
        ("num_layers_at_end_in_bf16", -1),
        ("num_layers_at_start_in_bf16", -1),
    ],
)
def test_a_count_below_its_least_is_refused(field: str, value: int) -> None:
    assert_refused(f"{field}={value}; legal: at least", **{field: value})


def test_an_initial_loss_scale_below_the_least_is_refused() -> None:
    assert_refused("is below min_loss_scale", initial_loss_scale=1.0, min_loss_scale=2.0)


@pytest.mark.parametrize(
    ("field", "value"),
    [("bf16", 1), ("bf16", "yes"), ("fp8", True), ("hysteresis", 2.5), ("hysteresis", True)],
)
def test_a_value_of_another_type_is_refused(field: str, value: Any) -> None:
    assert_refused(f"{field}={value!r} is a {type(value).__name__}; legal:", **{field: value})


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(ValueError, match="hysteresis") as caught:
        MixedPrecisionConfig(bf16=True, fp16=True, hysteresis=0, loss_scale=0).validate()
    assert len(str(caught.value).splitlines()) == 3
