"""What a person is told about the recipes."""

from __future__ import annotations

from mp_core import Advice, get_mixed_precision_config
from mp_core.plugins import hooks
from mp_plugin_nemotron.hooks import mp_advice


def advice(name: str) -> str:
    """Return the plugin's own advice on *name*, as one text."""
    return " ".join(piece.text for piece in mp_advice(get_mixed_precision_config(name)))


def test_nano_advice_says_that_the_name_misleads() -> None:
    told = advice("nanov2_bf16_with_fp8_current_scaling_mixed")
    assert "The name says current scaling, but the values are blockwise" in told


def test_advice_counts_the_layers_of_each_model() -> None:
    super_, ultra = (f"nemotron_3_{n}_bf16_with_nvfp4_mixed" for n in ("super", "ultra"))
    assert "2 layers at the start and 2" in advice("nemotron_h_bf16_with_fp8_current_scaling_mixed")
    assert "0 layers at the start and 14" in advice(super_)
    assert "0 layers at the start and 16" in advice(ultra)


def test_another_recipe_gets_no_advice_from_here() -> None:
    assert advice("bf16_with_nvfp4_mixed") == ""


def test_the_family_of_a_recipe_advises_too() -> None:
    config = get_mixed_precision_config("nemotron_3_super_bf16_with_nvfp4_mixed")
    told = [piece.text for pieces in hooks().mp_advice(config=config) for piece in pieces]
    assert any("Adam's epsilon" in text for text in told)


def test_core_gets_the_advice_and_each_piece_has_a_source() -> None:
    config = get_mixed_precision_config("nanov2_bf16_with_fp8_current_scaling_mixed")
    told = [piece for pieces in hooks().mp_advice(config=config) for piece in pieces]
    assert {*mp_advice(config)} <= {*told}
    assert all(isinstance(piece, Advice) and piece.source for piece in told)
    assert {*(field for piece in told for field in piece.fields)} <= {*config.to_dict()}
