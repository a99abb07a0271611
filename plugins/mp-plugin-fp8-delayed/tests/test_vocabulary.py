"""The values that this plugin makes legal."""

from __future__ import annotations

import pytest

from mp_core import get_mixed_precision_config
from mp_core.plugins import manager, vocabulary

WORDS = {
    "fp8": {"e4m3", "hybrid"},
    "fp8_amax_compute_algo": {"max", "most_recent"},
    "fp8_recipe": {"delayed"},
}


def test_each_word_is_legal_and_has_a_meaning() -> None:
    legal = vocabulary()
    for field, values in WORDS.items():
        assert values <= legal[field].keys()
        assert all(legal[field][value] for value in values)


def test_a_value_that_no_plugin_knows_is_refused_with_the_legal_ones() -> None:
    with pytest.raises(ValueError, match="legal with the installed plugins: 'e4m3'"):
        get_mixed_precision_config("bf16_with_fp8_delayed_scaling_mixed", fp8="e5m2")


def test_core_takes_every_hook() -> None:
    assert manager().problems == []
