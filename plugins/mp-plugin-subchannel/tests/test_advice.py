"""What a person is told about the recipes."""

from __future__ import annotations

from mp_core import Advice, get_mixed_precision_config
from mp_core.plugins import hooks
from mp_plugin_subchannel.hooks import mp_advice


def advice(name: str) -> str:
    """Return the plugin's own advice on *name*, as one text."""
    return " ".join(piece.text for piece in mp_advice(get_mixed_precision_config(name)))


def test_advice_says_where_blockwise_products_are_emulated() -> None:
    told = advice("bf16_with_fp8_subchannel_scaling_mixed")
    assert "On Blackwell" in told
    assert "CUDA 12.9" in told


def test_advice_on_the_gather_comes_only_with_the_gather() -> None:
    name = "bf16_with_fp8_subchannel_scaling_mixed"
    assert "fp8_param_gather" not in advice(name)
    assert "stores parameters in FP8 blocks" in advice(f"{name}:fp8_param_gather=true")


def test_a_base_recipe_gets_no_advice_from_here() -> None:
    assert advice("bf16_mixed") == ""


def test_core_gets_the_advice_and_each_piece_has_a_source() -> None:
    config = get_mixed_precision_config("bf16_with_fp8_subchannel_scaling_mixed")
    told = [piece for pieces in hooks().mp_advice(config=config) for piece in pieces]
    assert {*mp_advice(config)} <= {*told}
    assert all(isinstance(piece, Advice) and piece.source for piece in told)
    assert {*(field for piece in told for field in piece.fields)} <= {*config.to_dict()}
