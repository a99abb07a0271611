"""Plan, apply, undo and conflicts on a framework of the tests' own."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from mp_core import (
    InvalidPrecision,
    MixedPrecisionConfig,
    PrecisionConflict,
    PrecisionNotApplied,
    PrecisionRefused,
    StalePlan,
    explicit,
    hookimpl,
    make_plan,
)
from mp_core.appliers import changes_by_name
from mp_core.plugins import manager


@dataclass
class Target:
    """A config of the tests' own framework."""

    bf16: bool = False
    fp16: bool = False
    grad_reduce_in_fp32: bool = False
    hysteresis: int = 2
    doubled: int = 0
    sizes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.hysteresis == 13:
            raise AssertionError("13 is not supported")
        if self.hysteresis == 14:
            self.hysteresis = 3
        if self.hysteresis == 15:
            warnings.warn("15 is many", stacklevel=2)
        self.doubled = 2 * self.hysteresis
        self.sizes.append(1)
        self.sizes.pop()


class Framework:
    """A plugin that applies by field name."""

    @hookimpl
    def mp_apply(self, config: MixedPrecisionConfig, target: object) -> Any:
        return changes_by_name(config, target) if isinstance(target, Target) else None


@pytest.fixture(autouse=True)
def _framework() -> Iterator[None]:
    plugin = Framework()
    manager().register(plugin)
    yield
    manager().unregister(plugin)


def fp16(**values: Any) -> MixedPrecisionConfig:
    return MixedPrecisionConfig(fp16=True, **values)


BF16 = MixedPrecisionConfig(bf16=True)


def test_a_plan_changes_nothing_until_it_is_applied_and_can_be_undone() -> None:
    target = Target()
    plan = make_plan(BF16, target)
    assert target == Target()
    plan.apply()
    assert (target.bf16, target.grad_reduce_in_fp32) == (True, True)
    assert plan.drift() == []
    plan.undo()
    assert target == Target()


def test_what_a_class_derives_once_is_derived_again() -> None:
    target = Target()
    plan = fp16(hysteresis=5).setup(target)
    assert target.doubled == 10
    derived = next(change for change in plan.changes if change.field == "doubled")
    assert (derived.origin.kind, derived.reason) == ("rule", "derived again by Target")


def test_a_refusal_of_the_target_itself_comes_before_any_change() -> None:
    first, second = Target(), Target(sizes=[4])
    with pytest.raises(PrecisionRefused, match="13 is not supported") as caught:
        fp16(hysteresis=13).setup(first, second)
    assert "Nothing was changed" in str(caught.value)
    assert (first, second) == (Target(), Target(sizes=[4]))


def test_a_complaint_that_the_unchanged_target_has_is_not_blamed_on_the_recipe() -> None:
    target = Target()
    target.hysteresis = 13
    plan = BF16.setup(target)
    assert target.bf16
    assert "has this complaint without the recipe too" in plan.notes[0].text


def test_a_complaint_that_the_recipe_cures_is_none() -> None:
    target = Target()
    target.hysteresis = 13
    plan = fp16(hysteresis=15).setup(target, target, target)
    assert target.hysteresis == 15
    assert any(note.text == "Target warns: 15 is many" for note in plan.notes)


def test_a_value_that_the_target_itself_replaces_is_a_loud_note() -> None:
    targets = Target(), Target(), Target()
    plan = fp16(hysteresis=14).setup(*targets)
    assert [target.hysteresis for target in targets] == [3, 3, 3]
    (text,) = {note.text for note in plan.notes if note.loud}
    assert text == "Target itself turns hysteresis=14 into 3"


def test_an_overwritten_value_is_a_warning_that_says_how_to_keep_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    target = Target(hysteresis=7)
    fp16().setup(target)
    assert target.hysteresis == 2
    (record,) = [r for r in caplog.records if "hysteresis" in r.getMessage()]
    assert record.levelno == logging.WARNING
    assert "hysteresis=7 was set before" in record.getMessage()
    assert 'on_conflict="keep"' in record.getMessage()


def test_error_names_every_conflict_of_every_target_and_changes_nothing() -> None:
    targets = Target(hysteresis=7), Target(hysteresis=8)
    with pytest.raises(PrecisionConflict) as caught:
        fp16().setup(*targets, on_conflict="error")
    assert "hysteresis=7" in str(caught.value)
    assert "hysteresis=8" in str(caught.value)
    assert targets == (Target(hysteresis=7), Target(hysteresis=8))


def test_keep_keeps_the_users_value_and_the_plan_says_so() -> None:
    target = Target(hysteresis=7)
    plan = fp16().setup(target, on_conflict="keep")
    assert target.hysteresis == 7
    assert [(change.field, change.new) for change in plan.kept] == [("hysteresis", 7)]
    assert "hysteresis=7 was set before and stays" in plan.to_text()


def test_the_base_mode_is_not_kept_in_part() -> None:
    target = Target(bf16=True)
    with pytest.raises(PrecisionConflict, match="share it"):
        fp16().setup(target, on_conflict="keep")
    assert target == Target(bf16=True)


def test_a_default_value_is_the_users_word_when_he_says_so() -> None:
    target = explicit(Target(), grad_reduce_in_fp32=False)
    with pytest.raises(PrecisionConflict, match="grad_reduce_in_fp32=False was set before"):
        BF16.setup(target, on_conflict="error")
    BF16.setup(target, on_conflict="keep")
    assert target.grad_reduce_in_fp32 is False
    with pytest.raises(InvalidPrecision, match="grad_reduce_in_fp32"):
        explicit(target, "grad_reduce_in_fp23")


def test_a_kept_value_comes_back_after_another_recipe_overwrote_it() -> None:
    target = explicit(Target(), grad_reduce_in_fp32=False)
    BF16.setup(target)
    assert target.grad_reduce_in_fp32 is True
    BF16.setup(target, on_conflict="keep")
    assert target.grad_reduce_in_fp32 is False


def test_what_a_recipe_wrote_is_never_mistaken_for_the_users_word(
    caplog: pytest.LogCaptureFixture,
) -> None:
    targets = Target(), Target(), Target()
    fp16(hysteresis=5).setup(*targets)
    fp16().setup(*targets)
    assert [target.hysteresis for target in targets] == [2, 2, 2]
    assert not caplog.records


def test_a_value_that_lands_nowhere_is_refused_before_anything_changes() -> None:
    targets = Target(), Target(), Target()
    with pytest.raises(PrecisionNotApplied, match=r"loss_scale=8\.0 has no place") as caught:
        fp16(loss_scale=8.0).setup(*targets)
    assert "Nothing was changed" in str(caught.value)
    assert targets == (Target(), Target(), Target())


def test_none_is_no_opinion() -> None:
    target = Target(hysteresis=3)
    MixedPrecisionConfig(bf16=True).setup(target)
    assert target.hysteresis == 3


def test_a_plan_made_before_a_target_changed_is_not_applied() -> None:
    target = Target()
    plan = make_plan(BF16, target)
    target.bf16 = True
    with pytest.raises(StalePlan, match=r"model\.bf16 changed since"):
        plan.apply()
    assert target == Target(bf16=True)


def test_undo_refuses_to_erase_what_changed_since() -> None:
    target = Target()
    plan = BF16.setup(target)
    target.grad_reduce_in_fp32 = False
    with pytest.raises(StalePlan, match="changed since the plan was applied"):
        plan.undo()
    assert [change.field for change in plan.drift()] == ["grad_reduce_in_fp32"]
    with pytest.raises(StalePlan, match="nothing to undo"):
        make_plan(BF16, Target()).undo()


def test_undo_refuses_while_a_later_plan_stands() -> None:
    target = Target()
    first = BF16.setup(target)
    second = BF16.replace(grad_reduce_in_fp32=False).setup(target)
    with pytest.raises(StalePlan, match="another plan was applied"):
        first.undo()
    second.undo()
    first.undo()
    assert target == Target()


def test_a_value_that_the_plan_found_right_and_someone_changed_makes_it_stale() -> None:
    target = Target()
    plan = make_plan(BF16.replace(grad_reduce_in_fp32=False), target)
    target.grad_reduce_in_fp32 = True
    with pytest.raises(StalePlan, match=r"model\.grad_reduce_in_fp32 changed since"):
        plan.apply()


def test_a_target_that_no_plugin_knows_is_refused() -> None:
    @dataclass
    class Foreign:
        bf16: bool = False

    with pytest.raises(PrecisionNotApplied, match="mp-plugin-megatron"):
        BF16.setup(Foreign())


@pytest.mark.parametrize("target", ["text", 3, {}, Target, [Target()]])
def test_what_is_no_config_object_is_refused(target: Any) -> None:
    with pytest.raises(ValueError, match="is not a config object"):
        BF16.setup(target)


def test_a_wrong_policy_is_refused_with_the_legal_ones() -> None:
    with pytest.raises(ValueError, match="'error', 'keep', 'warn'"):
        BF16.setup(Target(), on_conflict="ignore")
    with pytest.raises(ValueError, match="'error', 'off', 'warn'"):
        BF16.setup(Target(), check="maybe")
    with pytest.raises(ValueError, match="no target"):
        BF16.setup(None)


def test_every_value_of_a_plan_has_an_origin() -> None:
    plan = make_plan(BF16.replace(grad_reduce_in_fp32=False), Target())
    origins = {change.field: change.origin.kind for change in (*plan.changes, *plan.stays)}
    assert origins == {"bf16": "recipe", "fp16": "recipe", "grad_reduce_in_fp32": "override"}


def test_several_ddp_configs_are_all_changed() -> None:
    ddps = [Target(), Target()]
    plan = BF16.setup(Target(), None, ddps)
    assert [ddp.grad_reduce_in_fp32 for ddp in ddps] == [True, True]
    assert set(plan.targets) == {"model", "ddp[0]", "ddp[1]"}
