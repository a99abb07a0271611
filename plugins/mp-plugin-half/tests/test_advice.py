"""What a person is told about the recipes."""

from __future__ import annotations

from mp_core import Advice, get_mixed_precision_config
from mp_core.plugins import hooks
from mp_plugin_half.hooks import mp_advice


def advice(name: str) -> str:
    """Return the plugin's own advice on *name*, as one text."""
    return " ".join(piece.text for piece in mp_advice(get_mixed_precision_config(name)))


def test_bf16_advice_says_why_gradients_are_reduced_in_fp32() -> None:
    assert "8 bits of significand" in advice("bf16_mixed")
    assert "11 bits" not in advice("bf16_mixed")


def test_fp16_advice_says_why_gradients_are_not() -> None:
    assert "11 bits of significand" in advice("fp16_mixed")
    assert "8 bits" not in advice("fp16_mixed")


def test_fp16_advice_expects_the_first_steps_to_be_skipped() -> None:
    assert "first steps to be skipped" in advice("fp16_mixed")
    assert "starts at 1024:" in advice("fp16_mixed:initial_loss_scale=1024")


def test_a_fixed_loss_scale_has_its_own_advice() -> None:
    assert "fixed at 128" in advice("fp16_mixed:loss_scale=128")


def test_core_gets_the_advice_and_each_piece_has_a_source() -> None:
    config = get_mixed_precision_config("fp16_mixed")
    told = [piece for pieces in hooks().mp_advice(config=config) for piece in pieces]
    assert {*mp_advice(config)} <= {*told}
    assert all(isinstance(piece, Advice) and piece.source for piece in told)
    assert {*(field for piece in told for field in piece.fields)} <= {*config.to_dict()}
