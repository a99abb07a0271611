"""What a person is told about the recipes."""

from __future__ import annotations

from mp_core import Advice, get_mixed_precision_config
from mp_core.plugins import hooks
from mp_plugin_mxfp8.hooks import mp_advice


def advice(name: str) -> str:
    """Return the plugin's own advice on *name*, as one text."""
    return " ".join(piece.text for piece in mp_advice(get_mixed_precision_config(name)))


def test_advice_says_why_the_format_is_e4m3() -> None:
    assert "diverged (E5M2 gradients)" in advice("bf16_with_mxfp8_mixed")


def test_advice_says_that_the_gather_saves_no_bandwidth() -> None:
    assert "saves no bandwidth" in advice("fp16_with_mxfp8_mixed")


def test_advice_without_the_gather_says_that_weights_take_more_memory() -> None:
    name = "bf16_with_mxfp8_mixed:fp8_param_gather=false"
    assert "more memory than in the base recipe" in advice(name)
    assert "bandwidth" not in advice(name)


def test_a_base_recipe_gets_no_advice_from_here() -> None:
    assert advice("bf16_mixed") == ""


def test_core_gets_the_advice_and_each_piece_has_a_source() -> None:
    config = get_mixed_precision_config("bf16_with_mxfp8_mixed")
    told = [piece for pieces in hooks().mp_advice(config=config) for piece in pieces]
    assert {*mp_advice(config)} <= {*told}
    assert all(isinstance(piece, Advice) and piece.source for piece in told)
    assert {*(field for piece in told for field in piece.fields)} <= {*config.to_dict()}
