"""The rules on values, each with what it says to type."""

from __future__ import annotations

import pytest

from mp_core import Finding, MixedPrecisionConfig, Situation, get_mixed_precision_config
from mp_core.plugins import hooks

CONFIG = get_mixed_precision_config("bf16_with_fp8_current_scaling_mixed")
DEAD: dict[str, object] = {
    "fp8_amax_compute_algo": "max",
    "fp8_amax_history_len": 1024,
    "fp8_margin": 1,
    "fp8_multi_head_attention": True,
    "fp8_wgrad": False,
}


def check(config: MixedPrecisionConfig) -> list[Finding]:
    """Return the findings of all plugins on *config* where nothing else is known."""
    answers = hooks().mp_check(config=config, situation=Situation())
    found = sorted(finding for answer in answers for finding in answer)
    # Other plugins may be installed beside this one, and have their own say.
    return [finding for finding in found if finding.code.startswith("CS1")]


@pytest.mark.parametrize("mode", ["bf16", "fp16"])
def test_the_recipes_themselves_have_no_finding(mode: str) -> None:
    assert check(get_mixed_precision_config(f"{mode}_with_fp8_current_scaling_mixed")) == []


@pytest.mark.parametrize("field", sorted(DEAD))
def test_a_knob_of_delayed_scaling_is_named_as_doing_nothing(field: str) -> None:
    (finding,) = check(CONFIG.replace(**{field: DEAD[field]}))
    assert (finding.code, finding.severity) == ("CS101", "warning")
    assert finding.message.startswith(f"{field}=")


def test_the_remedy_is_the_override_that_restores_the_default() -> None:
    (finding,) = check(CONFIG.replace(fp8_wgrad=False))
    assert finding.remedy == "Type fp8_wgrad=true."


def test_a_recipe_of_another_family_is_not_this_plugins_business() -> None:
    assert check(get_mixed_precision_config("bf16_mixed:fp8_margin=1")) == []
