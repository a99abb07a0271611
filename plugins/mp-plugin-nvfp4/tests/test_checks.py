"""The rules on values, each with what it says to type."""

from __future__ import annotations

import pytest

from mp_core import Finding, Situation, get_mixed_precision_config
from mp_core.plugins import hooks

NAME = "bf16_with_nvfp4_mixed"
KEPT = f"{NAME}:first_last_layers_bf16=true,num_layers_at_end_in_bf16=4"


def check(name: str, **facts: object) -> list[Finding]:
    """Return the findings of all plugins on *name*, given *facts*."""
    config, situation = get_mixed_precision_config(name), Situation(facts)
    answers = hooks().mp_check(config=config, situation=situation)
    found = sorted(finding for answer in answers for finding in answer)
    # Other plugins may be installed beside this one, and have their own say.
    return [finding for finding in found if finding.code.startswith("NV1")]


def test_no_last_layers_in_bf16_is_a_note() -> None:
    (finding,) = check(NAME, use_megatron_fsdp=False)
    assert (finding.code, finding.severity) == ("NV102", "note")
    assert finding.remedy.endswith("first_last_layers_bf16=true,num_layers_at_end_in_bf16=4.")


def test_last_layers_in_bf16_leave_nothing_to_say() -> None:
    assert check(KEPT, use_megatron_fsdp=False) == []


@pytest.mark.parametrize("switch", ["use_custom_fsdp", "use_megatron_fsdp"])
def test_an_fp4_gather_under_megatron_fsdp_is_an_error(switch: str) -> None:
    (finding,) = check(KEPT, **{switch: True})
    assert (finding.code, finding.severity) == ("NV101", "error")
    assert finding.remedy == "Type fp4_param_gather=false."


def test_an_fp4_gather_is_unknown_where_nobody_says_if_megatron_fsdp_is_on() -> None:
    (finding,) = check(KEPT)
    assert (finding.code, finding.severity) == ("NV101", "unknown")


def test_no_gather_is_right_under_megatron_fsdp() -> None:
    assert check(f"{KEPT},fp4_param_gather=false", use_megatron_fsdp=True) == []
