"""Every switch from one recipe to another on the same real configs, on the installed Megatron."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import pytest

from mp_core import (
    MixedPrecisionConfig,
    PrecisionConflict,
    PrecisionNotApplied,
    PrecisionRefused,
    explicit,
    get_mixed_precision_config,
)
from mp_core.catalogue import known_recipes

OLD_NAMES = ("bf16_with_fp8_mixed", "fp16_with_fp8_mixed")
RECIPES = ["fp32", *(name for name in known_recipes() if name not in OLD_NAMES)]
PAIRS = list(itertools.permutations(RECIPES, 2))


def recipe(name: str) -> MixedPrecisionConfig:
    return MixedPrecisionConfig(fp32=True) if name == "fp32" else get_mixed_precision_config(name)


def applied(name: str, configs: Any, **options: Any) -> bool:
    """Apply the recipe; return whether this Megatron-Core accepts it."""
    try:
        recipe(name).setup(*configs, **options)
    except (PrecisionNotApplied, PrecisionRefused):
        return False
    return True


def test_there_are_all_ordered_pairs_of_fifteen_recipes_and_fp32() -> None:
    assert len(PAIRS) == 16 * 15


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_then_b_equals_b_alone_and_a_refusal_changes_nothing(
    first: str, second: str, fresh: Any, state: Any, caplog: pytest.LogCaptureFixture
) -> None:
    both, alone = fresh(), fresh()
    applied(first, both)
    after_first = state(both)
    accepted = applied(second, alone)
    assert applied(second, both) is accepted
    assert state(both) == (state(alone) if accepted else after_first)
    assert "was set before" not in caplog.text


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_applied_and_undone_leaves_nothing(name: str, fresh: Any, state: Any) -> None:
    configs, untouched = fresh(), fresh()
    if not applied(name, fresh()):
        pytest.skip("this Megatron-Core does not hold the recipe")
    plan = recipe(name).setup(*configs)
    assert state(configs) != state(untouched)
    plan.undo()
    assert state(configs) == state(untouched)


@pytest.mark.parametrize(("first", "second"), PAIRS)
@pytest.mark.parametrize("moment", ["before", "between", "after"])
def test_the_users_own_value_survives_every_switch_that_does_not_speak_of_it(
    first: str, second: str, moment: str, fresh: Any
) -> None:
    configs = fresh()
    for now, step in (("before", first), ("between", second), ("after", None)):
        if moment == now:
            configs[0].attention_softmax_in_fp32 = False
            configs[1].clip_grad = 0.5
            configs[2].overlap_grad_reduce = True
        if step:
            applied(step, configs)
    model, optimizer, ddp = configs
    assert not model.attention_softmax_in_fp32
    assert (optimizer.clip_grad, ddp.overlap_grad_reduce) == (0.5, True)


@pytest.mark.parametrize("name", [n for n in RECIPES if not n.startswith("fp")])
@pytest.mark.parametrize("moment", ["before", "between"])
@pytest.mark.parametrize("policy", ["warn", "error", "keep"])
def test_a_value_that_the_user_set_stays_what_the_policy_says(
    name: str, moment: str, policy: str, fresh: Any, caplog: pytest.LogCaptureFixture
) -> None:
    configs = fresh()
    if moment == "before":
        explicit(configs[2], grad_reduce_in_fp32=False)
    applied("bf16_mixed", configs, on_conflict="keep")
    if moment == "between":
        configs[2].grad_reduce_in_fp32 = False
    caplog.set_level(logging.WARNING)
    accepted = applied(name, fresh())
    caplog.clear()
    if policy == "error":
        with pytest.raises(PrecisionConflict, match="grad_reduce_in_fp32=False was set before"):
            recipe(name).setup(*configs, on_conflict=policy)
    else:
        assert applied(name, configs, on_conflict=policy) is accepted
    overwritten = accepted and policy == "warn"
    assert configs[2].grad_reduce_in_fp32 is overwritten
    assert ("grad_reduce_in_fp32=False was set before" in caplog.text) is overwritten
