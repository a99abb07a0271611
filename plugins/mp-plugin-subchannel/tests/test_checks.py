"""The rules on values, each with what it says to type."""

from __future__ import annotations

import pytest

from mp_core import Finding, Situation, get_mixed_precision_config
from mp_core.plugins import hooks

NAME = "bf16_with_fp8_subchannel_scaling_mixed"


def check(name: str, **facts: object) -> list[Finding]:
    """Return the findings of all plugins on *name*, given *facts*."""
    config, situation = get_mixed_precision_config(name), Situation(facts)
    answers = hooks().mp_check(config=config, situation=situation)
    found = sorted(finding for answer in answers for finding in answer)
    # Other plugins may be installed beside this one, and have their own say.
    return [finding for finding in found if finding.code.startswith("SC1")]


@pytest.mark.parametrize("mode", ["bf16", "fp16"])
def test_the_recipes_themselves_have_no_finding(mode: str) -> None:
    assert check(f"{mode}_with_fp8_subchannel_scaling_mixed") == []


def test_fp8_attention_is_named_as_disabled() -> None:
    (finding,) = check(f"{NAME}:fp8_dot_product_attention=true")
    assert (finding.code, finding.severity) == ("SC101", "warning")
    assert finding.remedy == "Type fp8_dot_product_attention=false."


def test_a_knob_of_delayed_scaling_is_named_as_doing_nothing() -> None:
    (finding,) = check(f"{NAME}:fp8_margin=2")
    assert (finding.code, finding.severity) == ("SC102", "warning")
    assert finding.message.startswith("fp8_margin=2 does nothing")
