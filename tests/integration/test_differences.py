"""Every deliberate difference from the reference system, on real Megatron-Core configs.

The order is that of the table in docs/differences.md.
"""

from __future__ import annotations

import logging
from typing import Any

import pytest
import torch

from mp_core import (
    MIXED_PRECISION_RECIPES,
    MixedPrecisionConfig,
    PrecisionConflict,
    PrecisionNotApplied,
    PrecisionRefused,
    RecipeConflict,
    explicit,
    get_mixed_precision_config,
    make_plan,
    register,
    update_config_with_precision_overrides,
)


def test_a_parameter_field_is_not_undone_by_the_gathers_default(fresh: Any) -> None:
    model, optimizer, ddp = fresh()
    config = get_mixed_precision_config("bf16_with_fp8_delayed_scaling_mixed:fp8_param=true")
    config.setup(model, optimizer, ddp)
    assert (model.fp8_param, ddp.fp8_param_gather) == (True, True)


def test_a_gather_turned_off_turns_the_parameter_field_and_the_reuse_off(fresh: Any) -> None:
    model, optimizer, ddp = fresh()
    config = get_mixed_precision_config("bf16_with_fp8_delayed_scaling_mixed:fp8_param_gather=no")
    config.setup(model, optimizer, ddp)
    assert (model.fp8_param, ddp.fp8_param_gather) == (False, False)
    settled = get_mixed_precision_config("bf16_with_mxfp8_mixed:fp8_param_gather=false")
    settled.setup(model, optimizer, ddp)
    assert not getattr(ddp, "reuse_grad_buf_for_mxfp8_param_ag", False)


def test_nonsense_is_refused_by_get_plan_and_setup(fresh: Any, state: Any) -> None:
    configs, untouched = fresh(), fresh()
    broken = MixedPrecisionConfig(bf16=True, fp16=True)
    for attempt in (
        lambda: get_mixed_precision_config("bf16_mixed:fp16=true"),
        lambda: make_plan(broken, *configs),
        lambda: broken.setup(*configs),
        lambda: get_mixed_precision_config("bf16_with_mxfp8_mixed:fp8=banana").setup(*configs),
    ):
        with pytest.raises(ValueError, match=r"base mode|legal with the installed plugins"):
            attempt()
    assert state(configs) == state(untouched)


def test_none_does_not_overwrite(fresh: Any) -> None:
    model, optimizer, ddp = fresh()
    optimizer.loss_scale = 128.0
    model.pipeline_dtype = torch.bfloat16
    get_mixed_precision_config("fp16_mixed", loss_scale=None).setup(None, optimizer, ddp)
    assert optimizer.loss_scale == 128.0


def test_an_inactive_family_is_switched_off_and_its_knobs_are_left_alone(fresh: Any) -> None:
    model, optimizer, ddp = fresh(fp8="hybrid", fp8_recipe="tensorwise", fp8_margin=2)
    model.num_layers_at_start_in_bf16 = 3
    optimizer.loss_scale = 64.0
    get_mixed_precision_config("bf16_mixed").setup(model, optimizer, ddp)
    assert (model.fp8, model.fp8_param, ddp.fp8_param_gather) == (None, False, False)
    assert (model.fp8_margin, model.fp8_recipe) == (2, "tensorwise")
    assert model.num_layers_at_start_in_bf16 == 3
    assert optimizer.loss_scale == 64.0
    assert getattr(optimizer, "fp8_recipe", None) is None


@pytest.mark.parametrize("recipe", ["bf16_mixed", "bf16_with_nvfp4_mixed:fp4_param_gather=false"])
def test_a_run_without_fp8_leaves_the_optimizer_no_fp8_recipe(recipe: str, fresh: Any) -> None:
    model, optimizer, ddp = fresh()
    if not (hasattr(optimizer, "fp8_recipe") and hasattr(model, "fp4")):
        pytest.skip("this Megatron-Core has no OptimizerConfig.fp8_recipe or no FP4")
    get_mixed_precision_config("bf16_with_fp8_current_scaling_mixed").setup(model, optimizer, ddp)
    assert optimizer.fp8_recipe == "tensorwise"
    get_mixed_precision_config(recipe).setup(model, optimizer, ddp)
    assert optimizer.fp8_recipe is None


def test_the_optimizers_derived_fp8_path_follows_the_recipe(fresh: Any) -> None:
    _, optimizer, _ = fresh()
    name = "use_precision_aware_optimizer_no_fp8_or_ds_fp8"
    if not hasattr(optimizer, name):
        pytest.skip("this Megatron-Core derives no such attribute")
    optimizer.use_precision_aware_optimizer = True
    plan = get_mixed_precision_config("bf16_with_fp8_current_scaling_mixed").setup(None, optimizer)
    assert getattr(optimizer, name) is False
    assert any("not checked here" in note.text for note in plan.notes)
    get_mixed_precision_config("bf16_mixed").setup(None, optimizer)
    assert getattr(optimizer, name) is True


def test_an_explicit_false_is_overwritten_aloud_by_default(
    fresh: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model, optimizer, ddp = fresh()
    explicit(ddp, grad_reduce_in_fp32=False)
    plan = get_mixed_precision_config("bf16_mixed").setup(model, optimizer, ddp)
    assert ddp.grad_reduce_in_fp32 is True
    (warning,) = [r for r in caplog.records if "was set before" in r.getMessage()]
    assert warning.levelno == logging.WARNING
    assert '"bf16_mixed:grad_reduce_in_fp32=false"' in warning.getMessage()
    assert len(plan.conflicts) == 1


def test_an_explicit_false_raises_under_error_and_nothing_changes(fresh: Any, state: Any) -> None:
    configs, untouched = fresh(), fresh()
    explicit(configs[2], grad_reduce_in_fp32=False)
    with pytest.raises(PrecisionConflict, match="grad_reduce_in_fp32=False was set before"):
        get_mixed_precision_config("bf16_mixed").setup(*configs, on_conflict="error")
    assert state(configs) == state(untouched)


def test_an_explicit_false_is_kept_under_keep_and_the_plan_says_so(fresh: Any) -> None:
    model, optimizer, ddp = fresh()
    explicit(ddp, grad_reduce_in_fp32=False)
    plan = get_mixed_precision_config("bf16_mixed").setup(model, optimizer, ddp, on_conflict="keep")
    assert ddp.grad_reduce_in_fp32 is False
    assert "grad_reduce_in_fp32=False was set before and stays" in str(plan)


def test_an_explicit_value_unlike_its_default_needs_no_mark(
    fresh: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model, optimizer, ddp = fresh()
    ddp.grad_reduce_in_fp32 = True
    get_mixed_precision_config("fp16_mixed").setup(model, optimizer, ddp)
    assert "grad_reduce_in_fp32=True was set before" in caplog.text


def test_a_value_without_a_place_is_refused_with_field_value_and_version(
    fresh: Any, state: Any
) -> None:
    configs, untouched = fresh(), fresh()
    if hasattr(configs[2], "fp4_param_gather"):
        pytest.skip("this Megatron-Core holds every field of the recipe")
    with pytest.raises(PrecisionNotApplied) as caught:
        get_mixed_precision_config("bf16_with_nvfp4_mixed").setup(*configs)
    assert "fp4_param_gather=True has no place" in str(caught.value)
    assert "megatron-core 0.17 and later" in str(caught.value)
    if not hasattr(configs[0], "fp4"):
        assert "fp4='e2m1' has no place" in str(caught.value)
        assert "megatron-core 0.15 and later" in str(caught.value)
    assert state(configs) == state(untouched)


def test_a_value_that_only_follows_another_is_not_lost_in_silence_either(fresh: Any) -> None:
    model, optimizer, ddp = fresh()
    if hasattr(ddp, "fp4_param_gather") or not hasattr(model, "fp4"):
        pytest.skip("only Megatron-Core 0.15 and 0.16 hold fp4_param without fp4_param_gather")
    config = get_mixed_precision_config("bf16_mixed:fp4=e2m1,fp4_param=true")
    with pytest.raises(PrecisionNotApplied, match="fp4_param_gather=True has no place"):
        config.setup(model, optimizer, ddp)


def test_autocast_and_fp32_land(fresh: Any) -> None:
    model, optimizer, ddp = fresh(bf16=True, params_dtype=torch.bfloat16)
    config = MixedPrecisionConfig(fp32=True, autocast_enabled=True, autocast_dtype="bf16")
    config.setup(model, optimizer, ddp)
    assert (model.bf16, model.fp16, optimizer.bf16, optimizer.fp16) == (False,) * 4
    assert model.params_dtype is model.pipeline_dtype is optimizer.params_dtype is torch.float32
    assert (model.enable_autocast, model.autocast_dtype) == (True, torch.bfloat16)


def test_setup_returns_the_plan_that_it_carried_out(fresh: Any) -> None:
    configs = fresh()
    plan = get_mixed_precision_config("bf16_mixed").setup(*configs)
    assert plan.drift() == []
    assert {change.field for change in plan.changes} >= {"bf16", "params_dtype"}


def test_the_targets_own_refusal_names_the_recipe_and_changes_nothing(
    fresh: Any, state: Any
) -> None:
    configs, untouched = fresh(), fresh()
    for each in (*configs, *untouched):
        if hasattr(each, "fp8_wgrad"):
            each.hidden_size = 64
    configs[0].recompute_granularity = untouched[0].recompute_granularity = None
    config = get_mixed_precision_config(
        "bf16_with_fp8_current_scaling_mixed:num_layers_at_start_in_bf16=9"
    )
    with pytest.raises(PrecisionRefused, match="TransformerConfig refuses bf16_with_fp8_current"):
        config.setup(*configs)
    assert state(configs) == state(untouched)


def test_mxfp8_is_e4m3_with_gather_and_reuse() -> None:
    config = get_mixed_precision_config("bf16_with_mxfp8_mixed")
    assert (config.fp8, config.fp8_param_gather) == ("e4m3", True)
    assert config.reuse_grad_buf_for_mxfp8_param_ag


def test_register_does_not_replace() -> None:
    def bf16_mixed() -> MixedPrecisionConfig:
        return MixedPrecisionConfig(bf16=True)

    with pytest.raises(RecipeConflict, match="mp-plugin-half"):
        register(bf16_mixed)


def test_each_name_is_there_once_and_both_spellings_find_it() -> None:
    assert not [name for name in MIXED_PRECISION_RECIPES if "-" in name]
    config = get_mixed_precision_config("bf16-with-mxfp8-mixed")
    assert config == MIXED_PRECISION_RECIPES["bf16_with_mxfp8_mixed"]()
    assert "fp16-mixed" in MIXED_PRECISION_RECIPES


def test_dtypes_are_names_that_read_as_torch_dtypes() -> None:
    config = get_mixed_precision_config("bf16_mixed")
    assert config.params_dtype is torch.bfloat16
    config.params_dtype = torch.float32
    assert config.to_dict()["params_dtype"] == "float32"


def test_configs_updated_one_by_one_equal_those_of_setup(
    fresh: Any, state: Any, caplog: pytest.LogCaptureFixture
) -> None:
    single, together = fresh(), fresh()
    for name in ("fp16_with_fp8_delayed_scaling_mixed", "bf16_with_fp8_current_scaling_mixed"):
        for config in single:
            assert update_config_with_precision_overrides(name, config) is config
        get_mixed_precision_config(name).setup(*together)
        assert state(single) == state(together)
    assert caplog.records == []


def test_one_config_alone_refuses_what_no_installed_config_holds(fresh: Any, state: Any) -> None:
    configs, untouched = fresh(), fresh()
    if hasattr(configs[2], "fp4_param_gather"):
        pytest.skip("this Megatron-Core holds every field of the recipe")
    for config in configs:
        with pytest.raises(PrecisionNotApplied, match="fp4_param_gather=True has no place"):
            update_config_with_precision_overrides("bf16_with_nvfp4_mixed", config)
    assert state(configs) == state(untouched)
