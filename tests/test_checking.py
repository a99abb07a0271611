"""What the families' rules share."""

from __future__ import annotations

from mp_core import UNKNOWN, MixedPrecisionConfig, Rule, Situation
from mp_core.checking import any_true, unused_knobs

KNOBS = ("fp8_wgrad", "fp8_margin")
RULE = Rule("X1", "why", "follows", "source")


def test_any_true_is_unknown_only_where_no_fact_is_known() -> None:
    assert any_true(Situation(), "old", "new") is UNKNOWN
    assert any_true(Situation({"new": False}), "old", "new") is False
    assert any_true(Situation({"new": False, "old": True}), "old", "new") is True


def test_a_knob_at_its_default_is_not_mentioned() -> None:
    assert not list(unused_knobs(MixedPrecisionConfig(), KNOBS, RULE, "here"))


def test_each_unused_knob_is_a_warning_that_says_what_to_type() -> None:
    config = MixedPrecisionConfig(fp8_margin=1, fp8_wgrad=False)
    margin, wgrad = unused_knobs(config, KNOBS, RULE, "here")
    assert margin.message == "fp8_margin=1 does nothing here; its default is 0."
    assert (margin.code, margin.severity, margin.source) == ("X1", "warning", "source")
    assert (margin.remedy, wgrad.remedy) == ("Type fp8_margin=0.", "Type fp8_wgrad=true.")
