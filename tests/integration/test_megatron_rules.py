"""What Megatron-Core refuses or gets wrong beside a recipe, told before the job.

Sources: megatron-core transformer_config.py, optimizer_config.py, optimizer.py of 0.12 to 0.19,
Megatron-LM#2272, PR #4800, PR #5236.
"""

from __future__ import annotations

from typing import Any

import pytest

from mp_core import check

CURRENT, MXFP8 = "bf16_with_fp8_current_scaling_mixed", "bf16_with_mxfp8_mixed"
DELAYED, NVFP4 = "bf16_with_fp8_delayed_scaling_mixed", "bf16_with_nvfp4_mixed"
EXPERTS = {"num_moe_experts": 8}
AWARE = {"use_precision_aware_optimizer": True, "transformer_engine": "2.16"}


def codes(name: str, **facts: Any) -> dict[str, str]:
    return {each.code: each.severity for each in check(name, facts)}


@pytest.mark.parametrize("switch", ["moe_router_padding_for_quantization"])
@pytest.mark.parametrize("old", [False, True])
def test_the_router_pads_only_with_a_dispatcher_that_can(switch: str, old: bool) -> None:
    name = "moe_router_padding_for_fp8" if old else switch
    for dispatcher, said in (("allgather", True), ("alltoall_seq", True), ("alltoall", False)):
        facts = {**EXPERTS, name: True, "moe_token_dispatcher_type": dispatcher}
        assert ("MG109" in codes(CURRENT, **facts)) is said


def test_padding_left_on_by_a_recipe_of_16_bits_is_an_error() -> None:
    assert codes("bf16_mixed", moe_router_padding_for_quantization=True)["MG109"] == "error"


@pytest.mark.parametrize(("name", "multiple"), [(CURRENT, 16), (MXFP8, 32), (NVFP4, 128)])
def test_experts_without_router_padding_are_told_the_multiple(name: str, multiple: int) -> None:
    said = [each for each in check(name, EXPERTS) if each.code == "MG302"]
    assert f"multiple of {multiple}." in said[0].message
    assert "moe_router_padding_for_quantization=True (moe_router" in said[0].remedy
    padded = {**EXPERTS, "moe_router_padding_for_quantization": True}
    assert "MG302" not in codes(name, **padded)
    assert "MG302" not in codes(name)


@pytest.mark.parametrize(
    ("release", "switch"),
    [
        ("0.15.3", "moe_router_padding_for_fp8=True,"),
        ("0.16", "moe_router_padding_for_quantization=True,"),
    ],
)
def test_the_routers_switch_is_named_as_its_release_calls_it(release: str, switch: str) -> None:
    found = check(CURRENT, {**EXPERTS, "megatron_core": release})
    assert switch in next(each.remedy for each in found if each.code == "MG302")


@pytest.mark.parametrize(
    ("engine", "grouped", "severity"),
    [
        ("1.6", False, "error"),
        ("1.7", False, None),
        ("1.10", True, "error"),
        ("1.11", True, None),
        (None, True, "error"),
    ],
)
def test_experts_in_fp8_need_their_transformer_engine(
    engine: str | None, grouped: bool, severity: str | None
) -> None:
    facts = {**EXPERTS, "moe_grouped_gemm": grouped, "transformer_engine": engine}
    assert codes(CURRENT, **facts).get("MG204") == severity


def test_experts_ask_for_an_unknown_transformer_engine() -> None:
    assert codes(CURRENT, **EXPERTS)["MG204"] == "unknown"


@pytest.mark.parametrize("module", ["layernorm", "moe_act"])
def test_norms_are_recomputed_under_fp8_where_both_sides_can(module: str) -> None:
    facts = {"recompute_granularity": "selective", "recompute_modules": [module]}
    assert codes(DELAYED, **facts)["MG110"] == "error"
    assert codes(CURRENT, **facts, transformer_engine="2.5")["MG205"] == "error"
    assert "MG205" not in codes(CURRENT, **facts, transformer_engine="2.6.0.dev0")
    assert not {"MG110", "MG205"} & set(codes("bf16_mixed", **facts))


@pytest.mark.parametrize(
    ("name", "megatron_core", "overlap", "experts", "code"),
    [
        (MXFP8, "0.17.1", False, 8, "MG111"),
        (MXFP8, "0.18", False, 8, None),
        (MXFP8, "0.17.1", False, None, None),
        (MXFP8, "0.18.2", True, None, "MG112"),
        (MXFP8, "0.19", True, 8, None),
        (CURRENT, "0.17.1", False, 8, None),
        (f"{MXFP8}:fp8_param_gather=false", "0.17.1", False, 8, None),
    ],
)
def test_mxfp8_parameters_in_the_gradient_buffer_are_safe_from_their_release_on(
    name: str, megatron_core: str, overlap: bool, experts: int | None, code: str | None
) -> None:
    facts = {"megatron_core": megatron_core, "overlap_param_gather": overlap}
    found = codes(name, **facts, num_moe_experts=experts)
    assert {"MG111", "MG112"} & set(found) == ({code} if code else set())


def test_the_release_is_asked_for_where_the_buffer_depends_on_it() -> None:
    found = codes(MXFP8, **EXPERTS, overlap_param_gather=False)
    assert found["MG111"] == "unknown"


@pytest.mark.parametrize(
    ("megatron_core", "experts", "unknown"),
    [
        ("0.17.1", 8, {"MG111", "MG112"}),
        ("0.17.1", None, {"MG112"}),
        ("0.18.2", 8, {"MG112"}),
        ("0.19", 8, set()),
    ],
)
def test_the_overlap_is_asked_for_where_the_buffer_depends_on_it(
    megatron_core: str, experts: int | None, unknown: set[str]
) -> None:
    found = codes(MXFP8, megatron_core=megatron_core, num_moe_experts=experts)
    asked = {code for code in ("MG111", "MG112") if found.get(code) == "unknown"}
    assert asked == unknown


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({**AWARE, "optimizer": "sgd"}, True),
        ({**AWARE, "use_distributed_optimizer": False}, True),
        ({**AWARE, "optimizer": "adam", "use_distributed_optimizer": True}, False),
        ({"use_precision_aware_optimizer": False, "exp_avg_dtype": "torch.uint8"}, True),
        ({"use_precision_aware_optimizer": False, "exp_avg_dtype": "torch.float32"}, False),
    ],
)
def test_optimizer_state_below_fp32_needs_its_optimizer(facts: dict[str, Any], said: bool) -> None:
    assert ("MG113" in codes("bf16_mixed", **facts)) is said


def test_main_parameters_that_fused_adam_does_not_hold_are_noted() -> None:
    held = {**AWARE, "main_params_dtype": "torch.float32", "optimizer_cpu_offload": False}
    assert codes(CURRENT, **held)["MG114"] == "note"
    assert "MG114" not in codes(DELAYED, **held)
    assert "MG114" not in codes(CURRENT, **{**held, "main_params_dtype": "torch.float16"})


def test_every_setting_that_a_release_lacks_is_named() -> None:
    said = {each.code: each.message for each in check(NVFP4, {"megatron_core": "0.14.0"})}
    assert "fp4='e2m1' needs 0.15 and fp4_param_gather=True needs 0.17" in said["MG201"]
    later = {each.code: each.message for each in check(NVFP4, {"megatron_core": "0.16.1"})}
    assert "fp4='e2m1'" not in later["MG201"]
