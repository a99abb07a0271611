"""What a person is told about the recipes."""

from __future__ import annotations

from mp_core import Advice, get_mixed_precision_config
from mp_core.plugins import hooks
from mp_plugin_fp8_current.hooks import mp_advice


def advice(name: str) -> str:
    """Return the plugin's own advice on *name*, as one text."""
    return " ".join(piece.text for piece in mp_advice(get_mixed_precision_config(name)))


def test_bf16_advice_counts_the_layers_kept_in_bf16() -> None:
    told = advice("bf16_with_fp8_current_scaling_mixed:num_layers_at_end_in_bf16=3")
    assert "compute in BF16 and not in FP8: 1 at the start, 3 at the end" in told


def test_fp16_advice_says_that_the_fields_named_bf16_mean_fp16() -> None:
    told = advice("fp16_with_fp8_current_scaling_mixed")
    assert "compute in FP16" in told
    assert "The fields say bf16" in told


def test_a_base_recipe_gets_no_advice_from_here() -> None:
    assert advice("bf16_mixed") == ""


def test_core_gets_the_advice_and_each_piece_has_a_source() -> None:
    config = get_mixed_precision_config("fp16_with_fp8_current_scaling_mixed")
    told = [piece for pieces in hooks().mp_advice(config=config) for piece in pieces]
    assert {*mp_advice(config)} <= {*told}
    assert all(isinstance(piece, Advice) and piece.source for piece in told)
    assert {*(field for piece in told for field in piece.fields)} <= {*config.to_dict()}
