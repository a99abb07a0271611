"""What a person is told about the recipes."""

from __future__ import annotations

from mp_core import Advice, get_mixed_precision_config
from mp_core.plugins import hooks
from mp_plugin_nvfp4.hooks import mp_advice


def advice(name: str) -> str:
    """Return the plugin's own advice on *name*, as one text."""
    return " ".join(piece.text for piece in mp_advice(get_mixed_precision_config(name)))


KEPT = "bf16_with_nvfp4_mixed:first_last_layers_bf16=true,num_layers_at_end_in_bf16=4"


def test_advice_names_the_last_layers_and_adams_epsilon() -> None:
    told = advice("bf16_with_nvfp4_mixed")
    assert "last 4 layers in BF16" in told
    assert "Adam's epsilon" in told


def test_advice_on_the_last_layers_goes_once_they_are_kept() -> None:
    assert "keeps no layer" not in advice(KEPT)
    assert "Adam's epsilon" in advice(KEPT)


def test_advice_says_that_no_fp4_file_comes_out() -> None:
    assert "no FP4 file" in advice("bf16_with_nvfp4_mixed")
    assert "no FP4 file" not in advice("bf16_with_nvfp4_mixed:fp4_param_gather=false")


def test_a_base_recipe_gets_no_advice_from_here() -> None:
    assert advice("bf16_mixed") == ""


def test_core_gets_the_advice_and_each_piece_has_a_source() -> None:
    config = get_mixed_precision_config("bf16_with_nvfp4_mixed")
    told = [piece for pieces in hooks().mp_advice(config=config) for piece in pieces]
    assert {*mp_advice(config)} <= {*told}
    assert all(isinstance(piece, Advice) and piece.source for piece in told)
    assert {*(field for piece in told for field in piece.fields)} <= {*config.to_dict()}
