"""Problems that users reported in public, each a test named for what holds here.

The ids are those of docs/problems.md: K for a public thread, D for a fault found by running the
reference system. The situation of a hardware problem is that of its reporter.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from mp_core import (
    Finding,
    MixedPrecisionConfig,
    PrecisionConflict,
    PrecisionRefused,
    Situation,
    check,
    get_mixed_precision_config,
    make_plan,
    register,
)
from mp_core.catalogue import known_recipes
from mp_core.plugins import hooks

FP8 = [name for name in known_recipes() if "fp8" in name]


def findings(name: Any, configs: Any) -> dict[str, Finding]:
    return {finding.code: finding for finding in make_plan(name, *configs).findings}


def advice(name: str) -> str:
    config = get_mixed_precision_config(name)
    answers = hooks().mp_advice(config=config)
    return " ".join(each.text for answer in answers for each in answer)


def test_k1_a_gradient_reduction_dtype_set_after_the_recipe_is_not_lost_in_silence(
    fresh: Any, caplog: pytest.LogCaptureFixture
) -> None:
    configs = fresh()
    config = get_mixed_precision_config("bf16_mixed")
    config.setup(*configs)
    configs[2].grad_reduce_in_fp32 = False
    config.setup(*configs)
    assert "bf16_mixed:grad_reduce_in_fp32=false" in caplog.text


def test_k2_one_override_is_one_expression(fresh: Any) -> None:
    _, _, ddp = configs = fresh()
    get_mixed_precision_config("bf16_mixed:grad_reduce_in_fp32=false").setup(*configs)
    assert ddp.grad_reduce_in_fp32 is False
    with pytest.raises(ValueError, match="grad_reduce_in_fp32='maybe' is not true or false"):
        get_mixed_precision_config("bf16_mixed:grad_reduce_in_fp32=maybe")


def test_k3_an_explicit_fsdp_gradient_dtype_stays(fresh: Any) -> None:
    _, _, ddp = configs = fresh()
    name = "megatron_fsdp_grad_comm_dtype"
    if not hasattr(ddp, name):
        pytest.skip(f"this Megatron-Core has no {name}")
    setattr(ddp, name, torch.bfloat16)
    get_mixed_precision_config("bf16_mixed").setup(*configs)
    assert getattr(ddp, name) is torch.bfloat16


@pytest.mark.parametrize("name", ["bf16_mixed", "fp16_mixed"])
def test_k5_k6_d3_a_run_without_fp8_names_no_fp8_recipe_to_the_optimizer(
    name: str, fresh: Any
) -> None:
    _, optimizer, _ = configs = fresh()
    get_mixed_precision_config(name).setup(*configs)
    assert getattr(optimizer, "fp8_recipe", None) is None


@pytest.mark.parametrize("field", ["fp8", "fp8_param", "fp8_recipe"])
def test_k7_keep_does_not_leave_model_and_optimizer_with_two_fp8_recipes(
    field: str, fresh: Any, state: Any
) -> None:
    model, _, _ = configs = fresh()
    setattr(model, field, {"fp8": "hybrid", "fp8_param": True}.get(field, "blockwise"))
    before = state(configs)
    name = "bf16_mixed" if field != "fp8_recipe" else "bf16_with_fp8_current_scaling_mixed"
    with pytest.raises(PrecisionConflict, match=f"{field}=.*share it"):
        get_mixed_precision_config(name).setup(*configs, on_conflict="keep")
    assert state(configs) == before


@pytest.mark.parametrize("name", FP8)
def test_k7_model_and_optimizer_name_the_same_fp8_recipe(name: str, fresh: Any) -> None:
    model, optimizer, _ = configs = fresh()
    if not hasattr(optimizer, "fp8_recipe"):
        pytest.skip("OptimizerConfig.fp8_recipe came with Megatron-Core 0.13")
    get_mixed_precision_config(name).setup(*configs)
    assert model.fp8_recipe == optimizer.fp8_recipe


def test_k8_first_and_last_layers_in_bf16_reach_the_model(fresh: Any) -> None:
    model, _, _ = configs = fresh()
    config = get_mixed_precision_config(
        "bf16_with_fp8_current_scaling_mixed:num_layers_at_end_in_bf16=2"
    )
    config.setup(*configs)
    counts = model.num_layers_at_start_in_bf16, model.num_layers_at_end_in_bf16
    assert (model.first_last_layers_bf16, *counts) == (True, 1, 2)


def test_k9_another_projects_name_for_a_field_is_understood_and_a_wrong_one_refused() -> None:
    config = get_mixed_precision_config("bf16_mixed", accumulate_allreduce_grads_in_fp32=False)
    assert config.grad_reduce_in_fp32 is False
    with pytest.raises(ValueError, match="no field 'accumulate_allreduce_grads_in_fp16'"):
        get_mixed_precision_config("bf16_mixed", accumulate_allreduce_grads_in_fp16=False)


def test_k10_every_ddp_config_is_set_and_a_missing_one_is_named(fresh: Any) -> None:
    model, optimizer, first = fresh()
    second = fresh()[2]
    config = get_mixed_precision_config("bf16_mixed")
    config.setup(model, optimizer, [first, second])
    assert (first.grad_reduce_in_fp32, second.grad_reduce_in_fp32) == (True, True)
    plan = make_plan("bf16_with_fp8_delayed_scaling_mixed", model, optimizer)
    (note,) = [note for note in plan.notes if "no ddp config was given" in note.text]
    assert note.loud
    assert "grad_reduce_in_fp32=True" in note.text
    assert "fp8_param_gather=True" in note.text


def test_k11_a_bf16_gradient_buffer_beside_fp32_main_gradients_is_a_warning(fresh: Any) -> None:
    found = findings("bf16_mixed:grad_reduce_in_fp32=false", fresh())
    assert found["MG102"].severity == "warning"
    assert "MG102" not in findings("bf16_mixed", fresh())


def test_k14_mxfp8_in_the_hybrid_format_is_a_warning(fresh: Any) -> None:
    name = "bf16_with_mxfp8_mixed:fp8=hybrid,fp8_param_gather=false"
    assert findings(name, fresh())["MX101"].severity == "warning"


def test_k15_mxfp8_gather_without_reuse_is_an_error_before_the_job(fresh: Any) -> None:
    _, _, ddp = configs = fresh()
    if not hasattr(ddp, "reuse_grad_buf_for_mxfp8_param_ag"):
        pytest.skip("Megatron-Core before 0.13 gathers no MXFP8 parameters at all")
    name = "bf16_with_mxfp8_mixed:reuse_grad_buf_for_mxfp8_param_ag=false"
    assert findings(name, configs)["MX102"].severity == "error"
    with pytest.raises(PrecisionRefused, match="MX102"):
        get_mixed_precision_config(name).setup(*configs, check="error")


def test_k13_mxfp8_parameters_that_a_forced_sync_may_lose_are_a_warning() -> None:
    there = {"overlap_param_gather": True, "use_distributed_optimizer": True}
    assert verdicts("bf16_with_mxfp8_mixed", **there, megatron_core="0.18.2")["MG112"] == "warning"
    assert "MG112" not in verdicts("bf16_with_mxfp8_mixed", **there, megatron_core="0.19.0")
    assert "MG112" not in verdicts("bf16_mixed", **there, megatron_core="0.18.2")


def test_k16_fsdp_needs_no_reuse(fresh: Any) -> None:
    _, optimizer, ddp = configs = fresh()
    if not hasattr(ddp, "use_megatron_fsdp"):
        pytest.skip("this Megatron-Core names its FSDP otherwise")
    ddp.use_megatron_fsdp = True
    if hasattr(optimizer, "use_megatron_fsdp"):
        optimizer.use_megatron_fsdp = True
    name = "bf16_with_mxfp8_mixed:reuse_grad_buf_for_mxfp8_param_ag=false"
    assert "MX102" not in findings(name, configs)


def verdicts(name: str, **facts: Any) -> dict[str, str]:
    found = check(name, Situation(facts, environment={}))
    return {each.code: each.severity for each in found}


def test_k17_delayed_scaling_with_the_pair_that_saves_inputs_is_a_warning() -> None:
    name = "bf16_with_fp8_delayed_scaling_mixed"
    pair = {"device": "h100", "cuda": "12.9", "transformer_engine": "2.6.0"}
    assert verdicts(name, **pair, megatron_core="0.14.0")["DS207"] == "warning"
    assert "DS207" not in verdicts(name, **pair, megatron_core="0.15.3")


def test_k18_k19_a_resume_that_transformer_engine_refuses_is_a_warning() -> None:
    name = "bf16_with_fp8_delayed_scaling_mixed"
    assert verdicts(name, transformer_engine="2.18.0")["DS501"] == "warning"
    assert "DS501" not in verdicts(name, transformer_engine="2.17.0")
    assert "DS501" not in verdicts("bf16_with_mxfp8_mixed", transformer_engine="2.18.0")


def test_k20_advice_says_that_computing_in_fp4_stores_no_fp4_checkpoint() -> None:
    assert "checkpoint" in advice("bf16_with_nvfp4_mixed").lower()


def test_k23_d9_an_fp4_gather_that_this_megatron_cannot_hold_is_refused_whole(
    fresh: Any, state: Any
) -> None:
    configs, untouched = fresh(), fresh()
    if hasattr(configs[2], "fp4_param_gather"):
        pytest.skip("this Megatron-Core holds the FP4 gather")
    with pytest.raises(ValueError, match="fp4_param_gather=True has no place"):
        get_mixed_precision_config("bf16_with_nvfp4_mixed").setup(*configs)
    assert state(configs) == state(untouched)


def test_k24_an_fp4_gather_under_megatron_fsdp_is_an_error(fresh: Any) -> None:
    _, _, ddp = configs = fresh()
    if not hasattr(ddp, "fp4_param_gather"):
        pytest.skip("this Megatron-Core has no FP4 gather")
    ddp.use_megatron_fsdp = True
    assert findings("bf16_with_nvfp4_mixed", configs)["NV101"].severity == "error"


@pytest.mark.parametrize("gpu", ["rtx5090", "rtx-pro-6000"])
def test_k25_mxfp8_on_a_consumer_blackwell_is_an_error_that_names_what_runs(gpu: str) -> None:
    (finding,) = [f for f in check("bf16_with_mxfp8_mixed", {"device": gpu}) if f.code == "MX201"]
    assert finding.severity == "error"
    assert "12.0" in finding.message
    assert "bf16_with_fp8_current_scaling_mixed" in finding.remedy


def test_k26_the_nvfp4_recipe_as_it_is_fails_on_a_consumer_blackwell() -> None:
    versions = {"cuda": "12.9", "transformer_engine": "2.8.0", "megatron_core": "0.18.2"}
    assert verdicts("bf16_with_nvfp4_mixed", device="rtx5080", **versions)["NV206"] == "error"


def test_k27_nvfp4_and_mxfp8_on_hopper_are_errors_from_a_laptop() -> None:
    super_ = "nemotron_3_super_bf16_with_nvfp4_mixed"
    assert verdicts(super_, device="cuda:sm90")["NV201"] == "error"
    assert verdicts("bf16_with_mxfp8_mixed", device="h100")["MX201"] == "error"


def test_k28_blockwise_with_an_older_cuda_is_an_error() -> None:
    name = "bf16_with_fp8_subchannel_scaling_mixed"
    found = verdicts(name, device="h100", cuda="12.8", transformer_engine="2.3")
    assert found["SC202"] == "error"


def test_k29_blockwise_on_blackwell_is_said_to_be_emulated() -> None:
    name = "bf16_with_fp8_subchannel_scaling_mixed"
    found = verdicts(name, device="b200", cuda="12.9", transformer_engine="2.9")
    assert found["SC201"] == "warning"


def test_k30_fp8_on_ada_with_an_older_cuda_is_an_error() -> None:
    name = "bf16_with_fp8_delayed_scaling_mixed"
    assert verdicts(name, device="rtx4090", cuda="11.8")["DS202"] == "error"


def test_k31_sizes_and_tokens_that_are_no_multiple_of_32_are_errors_under_mxfp8() -> None:
    layout = {"context_parallel_size": 1, "sequence_parallel": True, "micro_batch_size": 1}
    facts = {"device": "b200", "tensor_model_parallel_size": 4, "seq_length": 4160, **layout}
    assert verdicts("bf16_with_mxfp8_mixed", **facts)["MX302"] == "error"
    facts = {"hidden_size": 4112, "ffn_hidden_size": 16384, "num_attention_heads": 16}
    found = verdicts("bf16_with_mxfp8_mixed", **facts, tensor_model_parallel_size=1)
    assert found["MX301"] == "error"


def test_k32_a_sequence_that_cp_splits_unevenly_is_an_error_under_fp8() -> None:
    facts = {"context_parallel_size": 4, "sequence_parallel": False, "micro_batch_size": 1}
    found = verdicts("bf16_with_fp8_delayed_scaling_mixed", seq_length=2000, **facts)
    assert found["DS302"] == "error"


def test_k34_recomputing_dense_mlp_layers_beside_experts_is_a_warning(fresh: Any) -> None:
    values = {"num_moe_experts": 4, "recompute_granularity": "selective", "add_bias_linear": False}
    configs = fresh(**values, recompute_modules=["mlp"])
    name = "bf16_with_fp8_subchannel_scaling_mixed"
    assert findings(name, configs)["MG105"].severity == "warning"


def test_k35_recompute_under_fp8_is_explained(fresh: Any) -> None:
    configs = fresh(recompute_granularity="selective")
    assert "MG106" in findings("bf16_with_fp8_delayed_scaling_mixed", configs)
    assert "MG106" not in findings("bf16_mixed", configs)


def test_k36_offload_with_a_gather_is_an_error_unless_scaling_is_delayed(fresh: Any) -> None:
    _, optimizer, _ = configs = fresh()
    optimizer.optimizer_cpu_offload = True
    assert findings("bf16_with_fp8_current_scaling_mixed", configs)["MG103"].severity == "error"
    assert "MG103" not in findings("bf16_with_fp8_delayed_scaling_mixed", configs)


def test_k40_what_something_else_changed_afterwards_is_found_by_drift(fresh: Any) -> None:
    model, _, _ = configs = fresh()
    plan = get_mixed_precision_config("bf16_mixed").setup(*configs)
    assert plan.drift() == []
    model.params_dtype = torch.float16
    assert [change.field for change in plan.drift()] == ["params_dtype"]


def test_k41_fp16_without_any_loss_scale_is_an_error_and_none_overwrites_nothing(
    fresh: Any,
) -> None:
    _, optimizer, _ = configs = fresh()
    config = get_mixed_precision_config("fp16_mixed", initial_loss_scale=None)
    config.setup(*configs)
    assert optimizer.initial_loss_scale == 2**32
    optimizer.initial_loss_scale = None
    assert findings(config, configs)["MG107"].severity == "error"


@pytest.mark.parametrize("name", known_recipes())
def test_k42_model_and_optimizer_are_never_in_different_modes(name: str, fresh: Any) -> None:
    model, optimizer, ddp = fresh()
    other = "fp16_mixed" if name.startswith("bf16") else "bf16_mixed"
    get_mixed_precision_config(other).setup(model, optimizer, ddp)
    try:
        get_mixed_precision_config(name).setup(model, optimizer, ddp)
    except ValueError:
        assert "nvfp4" in name or "mxfp8" in name
    assert (model.bf16, model.fp16) == (optimizer.bf16, optimizer.fp16)
    assert model.params_dtype is model.autocast_dtype is optimizer.params_dtype


def test_k42_keep_does_not_leave_the_optimizer_in_another_mode(fresh: Any) -> None:
    _, optimizer, _ = configs = fresh()
    optimizer.fp16 = True
    with pytest.raises(PrecisionConflict, match="share it"):
        get_mixed_precision_config("bf16_mixed").setup(*configs, on_conflict="keep")


def test_k44_fp8_without_a_16_bit_base_is_a_warning(fresh: Any) -> None:
    config = MixedPrecisionConfig(fp8="hybrid", fp8_recipe="delayed")
    assert findings(config, fresh())["MG101"].severity == "warning"


def test_k46_fp8_attention_that_blockwise_scaling_disables_is_a_warning(fresh: Any) -> None:
    name = "bf16_with_fp8_subchannel_scaling_mixed:fp8_dot_product_attention=true"
    assert findings(name, fresh())["SC101"].severity == "warning"


def test_k46_fp8_attention_without_a_backend_is_an_error_before_the_job() -> None:
    there = {"device": "b200", "transformer_engine": "2.16", "megatron_core": "0.18.2"}
    on = "fp8_dot_product_attention=true"
    assert verdicts(f"bf16_with_nvfp4_mixed:{on}", **there)["NV401"] == "error"
    old = verdicts(f"bf16_with_fp8_current_scaling_mixed:{on}", **there, cudnn="9.13")
    assert old["CS404"] == "error"


def test_k47_nvfp4_advises_bf16_last_layers_and_another_adam_epsilon() -> None:
    text = advice("bf16_with_nvfp4_mixed")
    assert "BF16" in text
    assert "epsilon" in text.lower()


def test_k49_e5m2_in_both_passes_is_refused_with_what_is_legal_and_why() -> None:
    with pytest.raises(ValueError, match=r"fp8='e5m2'.*'hybrid' \(E4M3.*E5M2"):
        get_mixed_precision_config("bf16_with_fp8_delayed_scaling_mixed:fp8=e5m2")


@pytest.mark.parametrize("name", known_recipes())
def test_k51_a_field_that_this_megatron_lacks_never_crashes(name: str, fresh: Any) -> None:
    try:
        get_mixed_precision_config(name).setup(*fresh())
    except ValueError as error:
        assert "Nothing was changed" in str(error)  # noqa: PT017 # a refusal is one good outcome


@pytest.mark.parametrize("name", known_recipes())
def test_k52_fp32_clears_an_earlier_mode(name: str, fresh: Any, state: Any) -> None:
    configs, alone = fresh(), fresh()
    try:
        get_mixed_precision_config(name).setup(*configs)
    except ValueError:
        pytest.skip("this Megatron-Core does not hold the recipe")
    MixedPrecisionConfig(fp32=True).setup(*configs)
    MixedPrecisionConfig(fp32=True).setup(*alone)
    assert state(configs) == state(alone)
    assert (configs[0].bf16, configs[0].params_dtype) == (False, torch.float32)


def test_k53_advice_says_why_bf16_and_fp16_reduce_gradients_differently() -> None:
    assert "significand" in advice("bf16_mixed")
    assert "grad_reduce_in_fp32" in advice("bf16_mixed")
    assert "loss" in advice("fp16_mixed")


def test_d1_a_parameter_field_that_was_asked_for_is_not_undone() -> None:
    assert MixedPrecisionConfig(fp8_param=True).fp8_param is True


def test_d2_fp32_sets_dtypes_rather_than_erase_them(fresh: Any) -> None:
    model, _, _ = configs = fresh(bf16=True, params_dtype=torch.bfloat16)
    MixedPrecisionConfig(fp32=True).setup(*configs)
    assert model.params_dtype is model.pipeline_dtype is torch.float32


def test_d4_plain_bf16_wipes_nothing_in_silence(
    fresh: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model, optimizer, _ = configs = fresh(fp8="hybrid", fp8_recipe="delayed")
    optimizer.loss_scale = 2.0
    get_mixed_precision_config("bf16_mixed").setup(*configs)
    assert (model.num_layers_at_start_in_bf16, optimizer.loss_scale) == (1, 2.0)
    assert model.fp8 is None
    assert "model.fp8=hybrid was set before and becomes None" in caplog.text


def test_d5_first_and_last_layers_without_a_count_are_refused() -> None:
    with pytest.raises(ValueError, match="protects no layer"):
        get_mixed_precision_config(
            "bf16_with_fp8_delayed_scaling_mixed:first_last_layers_bf16=true"
        )


def test_d7_fp8_turned_off_turns_its_parameters_off(fresh: Any) -> None:
    model, _, ddp = configs = fresh()
    get_mixed_precision_config("bf16_with_mxfp8_mixed:fp8=none").setup(*configs)
    assert (model.fp8, model.fp8_param, ddp.fp8_param_gather) == (None, False, False)
    assert not getattr(ddp, "reuse_grad_buf_for_mxfp8_param_ag", False)


@pytest.mark.parametrize(
    "name",
    [
        "bf16_with_fp8_current_scaling_mixed:fp8_margin=1",
        "bf16_with_fp8_subchannel_scaling_mixed:fp8_amax_history_len=1024",
        "bf16_with_mxfp8_mixed:fp8_wgrad=false,fp8_param_gather=false",
    ],
)
def test_d10_a_knob_that_does_nothing_under_a_recipe_is_a_warning(name: str, fresh: Any) -> None:
    assert any("othing" in finding.message for finding in findings(name, fresh()).values())


def test_d10_an_override_of_an_inactive_family_is_a_warning(
    fresh: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    get_mixed_precision_config("bf16_mixed:fp8_margin=1").setup(*fresh())
    assert "fp8_margin does nothing: fp8 is off" in caplog.text


@pytest.mark.parametrize(("name", "closest"), [("bf16-mixd", "bf16_mixed"), ("fp16", "fp16_mixed")])
def test_d11_an_unknown_name_gets_the_closest(name: str, closest: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean '{closest}'"):
        get_mixed_precision_config(name)


def test_d11_the_older_names_are_there() -> None:
    assert get_mixed_precision_config("bf16_with_fp8_mixed").fp8_recipe == "delayed"


def test_d12_a_factory_that_fails_is_not_an_unknown_recipe() -> None:
    def d12_broken() -> MixedPrecisionConfig:
        raise KeyError("inside")

    register(d12_broken)
    with pytest.raises(RuntimeError, match=r"d12_broken.*\n.*KeyError: 'inside'"):
        get_mixed_precision_config("d12_broken")


def test_d13_advice_says_that_nanov2_is_blockwise_whatever_its_name() -> None:
    assert "blockwise" in advice("nanov2_bf16_with_fp8_current_scaling_mixed")


def test_d14_a_gather_without_distributed_optimizer_or_fsdp_is_an_error(fresh: Any) -> None:
    model, optimizer, ddp = fresh()
    ddp.use_distributed_optimizer = optimizer.use_distributed_optimizer = False
    found = findings("bf16_with_fp8_delayed_scaling_mixed", (model, optimizer, ddp))
    assert found["MG104"].severity == "error"


def test_d15_advice_says_that_protected_layers_are_fp16_in_an_fp16_run() -> None:
    assert "FP16" in advice("fp16_with_fp8_current_scaling_mixed")


def test_every_problem_tested_here_is_on_the_documentations_page() -> None:
    page = Path(__file__).parents[2].joinpath("docs", "problems.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| ([KD]\d+) \|", page, flags=re.MULTILINE))
    tests = " ".join(name for name in globals() if name.startswith("test_"))
    assert {each.upper() for each in re.findall(r"_([kd]\d+)(?=_)", tests)} == listed
