"""What a person is told about the recipes."""

from __future__ import annotations

from mp_core import Advice, get_mixed_precision_config
from mp_core.plugins import hooks
from mp_plugin_fp8_delayed.hooks import mp_advice


def advice(name: str) -> str:
    """Return the plugin's own advice on *name*, as one text."""
    return " ".join(piece.text for piece in mp_advice(get_mixed_precision_config(name)))


def test_advice_names_the_variable_that_resuming_needs() -> None:
    told = advice("bf16_with_fp8_delayed_scaling_mixed")
    assert "NVTE_ALLOW_UNSAFE_PICKLE_EXTRA_STATE=1" in told


def test_only_an_older_name_is_answered_with_todays_name() -> None:
    assert "older name of fp16_with_fp8_delayed_scaling_mixed" in advice("fp16_with_fp8_mixed")
    assert "older name" not in advice("fp16_with_fp8_delayed_scaling_mixed")


def test_a_base_recipe_gets_no_advice_from_here() -> None:
    assert advice("bf16_mixed") == ""


def test_core_gets_the_advice_and_each_piece_has_a_source() -> None:
    config = get_mixed_precision_config("bf16_with_fp8_mixed")
    told = [piece for pieces in hooks().mp_advice(config=config) for piece in pieces]
    assert {*mp_advice(config)} <= {*told}
    assert all(isinstance(piece, Advice) and piece.source for piece in told)
    assert {*(field for piece in told for field in piece.fields)} <= {*config.to_dict()}
