"""The rules on values, each with what it says to type."""

from __future__ import annotations

import pytest

from mp_core import Finding, Situation, get_mixed_precision_config
from mp_core.plugins import hooks

NAME = "bf16_with_mxfp8_mixed"
NO_REUSE = f"{NAME}:reuse_grad_buf_for_mxfp8_param_ag=false"
FSDP = ("use_custom_fsdp", "use_megatron_fsdp", "use_torch_fsdp2")


def check(name: str, **facts: object) -> list[Finding]:
    """Return the findings of all plugins on *name*, given *facts*."""
    config, situation = get_mixed_precision_config(name), Situation(facts)
    answers = hooks().mp_check(config=config, situation=situation)
    found = sorted(finding for answer in answers for finding in answer)
    # Other plugins may be installed beside this one, and have their own say.
    return [finding for finding in found if finding.code.startswith("MX1")]


@pytest.mark.parametrize("mode", ["bf16", "fp16"])
def test_the_recipes_themselves_have_no_finding(mode: str) -> None:
    assert check(f"{mode}_with_mxfp8_mixed") == []


def test_mxfp8_with_hybrid_is_warned_of_but_legal() -> None:
    (finding,) = check(f"{NAME}:fp8=hybrid")
    assert (finding.code, finding.severity) == ("MX101", "warning")
    assert finding.remedy == "Type fp8=e4m3."


def test_a_gather_without_reuse_is_an_error_where_fsdp_is_off() -> None:
    (finding,) = check(NO_REUSE, use_megatron_fsdp=False)
    assert (finding.code, finding.severity) == ("MX102", "error")
    assert "reuse_grad_buf_for_mxfp8_param_ag=true" in finding.remedy


@pytest.mark.parametrize("switch", FSDP)
def test_a_gather_without_reuse_is_right_under_fsdp(switch: str) -> None:
    assert check(NO_REUSE, **(dict.fromkeys(FSDP, False) | {switch: True})) == []


def test_a_gather_without_reuse_is_unknown_where_nobody_says_if_fsdp_is_on() -> None:
    (finding,) = check(NO_REUSE)
    assert (finding.code, finding.severity) == ("MX102", "unknown")


def test_no_gather_needs_no_reuse() -> None:
    assert check(f"{NO_REUSE},fp8_param_gather=false", use_megatron_fsdp=False) == []


def test_a_knob_of_delayed_scaling_is_named_as_doing_nothing() -> None:
    (finding,) = check(f"{NAME}:fp8_amax_history_len=1024")
    assert (finding.code, finding.severity) == ("MX103", "warning")
    assert finding.remedy == "Type fp8_amax_history_len=1."
