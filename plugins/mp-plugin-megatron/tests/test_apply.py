"""Recipes on the real config classes of the installed Megatron-Core."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import pytest
import torch

from mp_core import InvalidPrecision, MixedPrecisionConfig, PrecisionRefused, make_plan
from mp_plugin_megatron.apply import NAMES, ROLES, homes
from mp_plugin_megatron.classes import CLASSES, config_class, role_of
from mp_plugin_megatron.hooks import ALIASES
from mp_plugin_megatron.targets import targets
from mp_plugin_megatron.versions import SINCE, needs_transformer_engine

BF16 = MixedPrecisionConfig(bf16=True)
FP8 = MixedPrecisionConfig(bf16=True, fp8="hybrid", fp8_recipe="tensorwise")
SHAPE = {"num_layers": 4, "hidden_size": 64, "num_attention_heads": 4}


def test_the_mode_is_one_fact_on_model_and_optimizer(model: Any, optimizer: Any, ddp: Any) -> None:
    for config, dtype in (
        (BF16, torch.bfloat16),
        (MixedPrecisionConfig(fp16=True), torch.float16),
        (MixedPrecisionConfig(fp32=True), torch.float32),
        (MixedPrecisionConfig(), torch.float32),
        (BF16, torch.bfloat16),
    ):
        config.setup(model, optimizer, ddp)
        assert model.params_dtype is model.pipeline_dtype is optimizer.params_dtype is dtype
        assert model.autocast_dtype is dtype
        assert (model.bf16, optimizer.bf16) == (config.bf16, config.bf16)
        assert (model.fp16, optimizer.fp16) == (config.fp16, config.fp16)


def test_an_autocast_dtype_that_megatron_derived_follows_the_recipe(model: Any) -> None:
    assert model.autocast_dtype is torch.float32
    plan = BF16.setup(model)
    assert model.autocast_dtype is torch.bfloat16
    assert plan.conflicts == ()


def test_an_autocast_dtype_that_the_user_chose_is_a_conflict(model: Any) -> None:
    model.autocast_dtype = torch.float16
    plan = BF16.setup(model, on_conflict="keep")
    assert model.autocast_dtype is torch.float16
    assert [change.field for change in plan.kept] == ["autocast_dtype"]


def test_a_subclass_with_more_fields_is_a_model_config() -> None:
    @dataclasses.dataclass
    class Wider(type(config())):  # type: ignore[misc] # the installed class is known at run time
        extra: int = 3

    wider = Wider(**SHAPE)
    BF16.setup(wider)
    assert (wider.bf16, wider.extra) == (True, 3)


def config() -> Any:
    return config_class("model")(**SHAPE)


def test_multi_latent_attention_configs_are_model_configs() -> None:
    from megatron.core.transformer.transformer_config import MLATransformerConfig

    mla = MLATransformerConfig(**SHAPE)
    FP8.setup(mla)
    assert (mla.fp8, mla.fp8_recipe, mla.params_dtype) == ("hybrid", "tensorwise", torch.bfloat16)


def test_any_dataclass_on_top_of_model_parallel_config_is_a_model_config() -> None:
    from megatron.core.model_parallel_config import ModelParallelConfig

    @dataclasses.dataclass
    class Own(ModelParallelConfig):
        width: int = 8

    own = Own()
    assert role_of(own) == "model"
    BF16.setup(own)
    assert (own.bf16, own.params_dtype, own.width) == (True, torch.bfloat16, 8)


def test_megatrons_own_refusal_is_reported_and_changes_nothing(model: Any) -> None:
    before = {k: v for k, v in vars(model).items() if not callable(v)}
    start = 9
    broken = FP8.replace(first_last_layers_bf16=True, num_layers_at_start_in_bf16=start)
    with pytest.raises(PrecisionRefused, match="TransformerConfig refuses"):
        broken.setup(model)
    assert {k: v for k, v in vars(model).items() if not callable(v)} == before


def test_a_check_that_needs_transformer_engine_is_no_refusal(optimizer: Any) -> None:
    optimizer.use_precision_aware_optimizer = True
    plan = BF16.setup(None, optimizer)
    assert optimizer.bf16
    assert any("needs Transformer Engine" in note.text for note in plan.notes)


def test_experts_under_fp8_are_no_refusal_without_transformer_engine() -> None:
    model = config_class("model")(**SHAPE, num_moe_experts=4, add_bias_linear=False)
    plan = FP8.setup(model)
    assert model.fp8 == "hybrid"
    assert any("needs Transformer Engine" in note.text for note in plan.notes)


def test_an_error_of_another_kind_does_not_count_as_a_missing_transformer_engine() -> None:
    assert needs_transformer_engine(ImportError("No module named 'transformer_engine'"))
    assert not needs_transformer_engine(ImportError("No module named 'numpy'"))
    assert not needs_transformer_engine(ValueError("MXFP8 currently does not support fp8_param"))


def test_a_complaint_that_the_model_config_had_before_is_not_the_recipes(model: Any) -> None:
    model.num_attention_heads = 0
    model.hidden_size = 63
    model.tensor_model_parallel_size = 2
    model.num_query_groups = 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=r".") as before:
            model.__post_init__()
    plan = BF16.setup(model)
    assert str(before.value) in plan.notes[0].text
    assert model.bf16


@pytest.mark.parametrize("role", sorted(CLASSES))
def test_the_version_table_says_of_no_installed_field_that_it_is_still_to_come(role: str) -> None:
    from megatron.core import __version__

    here = tuple(int(part) for part in __version__.split(".")[:2])
    fields = {field.name for field in dataclasses.fields(config_class(role))}
    for (owner, field), since in SINCE.items():
        if owner == role:
            first = tuple(int(part) for part in since.split("."))
            assert (field in fields) is (here >= first), (field, since)


def test_every_config_field_has_a_home_in_the_newest_megatron_or_is_the_mode() -> None:
    names = [field.name for field in dataclasses.fields(MixedPrecisionConfig)]
    assert [name for name in names if not homes(name)] == ["fp32"]


def test_fields_that_some_versions_lack_have_their_role_in_one_place() -> None:
    assert set(ROLES) == {field for _, field in SINCE} - {"fp8_recipe"}
    assert set(NAMES) <= {field.name for field in dataclasses.fields(MixedPrecisionConfig)}
    assert set(ALIASES.values()) <= {f.name for f in dataclasses.fields(MixedPrecisionConfig)}


def test_configs_are_made_from_plain_names_which_count_as_the_users_word() -> None:
    made = targets({"num_layers": 6, "grad_reduce_in_fp32": False, "params_dtype": "fp32"})
    assert made["model"].num_layers == 6  # type: ignore[attr-defined] # a TransformerConfig
    plan = make_plan(BF16, *made.values())
    assert {c.change.field for c in plan.conflicts} == {"grad_reduce_in_fp32", "params_dtype"}


def test_a_name_that_no_config_has_is_refused_with_the_closest() -> None:
    with pytest.raises(InvalidPrecision, match="did you mean 'num_layers'"):
        targets({"num_layer": 6})


def test_an_object_of_another_framework_is_left_to_other_plugins() -> None:
    assert role_of(object()) is None
