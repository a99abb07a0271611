"""Which recipe runs where: each cell of the published requirement table, as a situation.

Sources: Transformer Engine's availability checks by version (pytorch/quantization.py, fp8.py
before 2.9), its docs/features/low_precision_training, ROCm's copy of them, Gaudi's README.
"""

from __future__ import annotations

import pytest

from mp_core import UNKNOWN, Situation, check
from mp_core.verdicts import rules

HALF, FP16 = "bf16_mixed", "fp16_mixed"
DELAYED = "bf16_with_fp8_delayed_scaling_mixed"
CURRENT = "bf16_with_fp8_current_scaling_mixed"
BLOCKWISE = "bf16_with_fp8_subchannel_scaling_mixed"
MXFP8, NVFP4 = "bf16_with_mxfp8_mixed", "bf16_with_nvfp4_mixed"
NEW = {"cuda": "13.0", "transformer_engine": "2.16", "megatron_core": "0.18.2"}
GPUS = ("a100", "l40s", "h100", "b200", "b300", "rtx5090", "mi300x", "mi355x", "gaudi3")
#: y: runs; n: does not; w: runs otherwise than one may think; ?: no source says.
TABLE = {
    HALF: "yyyyyyyyy",
    FP16: "yyyyyyyyw",
    DELAYED: "nyyyyyyyy",
    CURRENT: "nyyyyyyy?",
    BLOCKWISE: "nnywwwnnn",
    MXFP8: "nnnyynnnn",
    NVFP4: "nnnyynyyn",
}
CELLS = [
    (name, gpu, cell) for name, row in TABLE.items() for gpu, cell in zip(GPUS, row, strict=True)
]


def verdict(name: str, environment: dict[str, str] | None = None, **facts: object) -> str:
    """Return the worst that the rules about the machine say."""
    known = rules()
    found = check(name, Situation(facts, environment=environment))
    worst = [each.severity for each in found if known[each.code].about == "machine"]
    letters = {"error": "n", "unknown": "?", "warning": "w", "note": "y"}
    # An offline resume warning is about a checkpoint, and ruled by its own test.
    return next((letters[s] for s in ("error", "unknown", "warning") if s in worst), "y")


def codes(name: str, environment: dict[str, str] | None = None, **facts: object) -> dict[str, str]:
    found = check(name, Situation(facts, environment=environment))
    return {each.code: each.severity for each in found}


@pytest.mark.parametrize(("name", "gpu", "cell"), CELLS)
def test_a_recipe_runs_where_the_table_says(name: str, gpu: str, cell: str) -> None:
    assert verdict(name, {}, device=gpu, **NEW) == cell


@pytest.mark.parametrize(("name", "gpu", "cell"), CELLS)
def test_without_the_device_nothing_is_said_to_run(name: str, gpu: str, cell: str) -> None:
    assert verdict(name, {}, **NEW) == "?"


@pytest.mark.parametrize("missing", ["cuda", "transformer_engine", "megatron_core"])
@pytest.mark.parametrize(
    ("name", "gpu"),
    [(n, g) for n, g, cell in CELLS if cell in "yw" and g[0] in "hbrl" and n not in (HALF, FP16)],
)
def test_without_a_needed_version_nothing_is_said_to_run(name: str, gpu: str, missing: str) -> None:
    assert verdict(name, {}, device=gpu, **(NEW | {missing: UNKNOWN})) == "?"


@pytest.mark.parametrize(
    ("cuda", "cell"), [("12.4", "n"), ("12.8", "n"), ("12.9", "y"), ("12.10", "y"), ("13.0", "y")]
)
def test_blockwise_on_hopper_compares_cuda_as_a_version(cuda: str, cell: str) -> None:
    assert verdict(BLOCKWISE, {}, device="h100", **(NEW | {"cuda": cuda})) == cell


@pytest.mark.parametrize(("engine", "cell"), [("2.8.0", "n"), ("2.9.0.dev0", "?"), ("2.9", "w")])
def test_blockwise_on_blackwell_is_emulated_from_2_9_on(engine: str, cell: str) -> None:
    assert verdict(BLOCKWISE, {}, device="b200", **(NEW | {"transformer_engine": engine})) == cell


@pytest.mark.parametrize(
    ("name", "engine", "cell"),
    [
        (NVFP4, "2.7.0", "n"),
        (NVFP4, "2.8.0rc1", "?"),
        (NVFP4, "2.8.0", "y"),
        (NVFP4, "2.8.0+40c69e75", "y"),
        (MXFP8, "1.13.0", "n"),
        (CURRENT, "2.1.0", "n"),
        (CURRENT, "2.2.0", "y"),
    ],
)
def test_a_recipe_needs_the_transformer_engine_that_has_its_class(
    name: str, engine: str, cell: str
) -> None:
    assert verdict(name, {}, device="b200", **(NEW | {"transformer_engine": engine})) == cell


@pytest.mark.parametrize(
    ("core", "code", "severity"),
    [
        ("0.14.0", "MG201", "error"),
        ("0.16.1", "MG201", "error"),
        ("0.17.1", "MG202", "warning"),
        ("0.18.2", "", ""),
    ],
)
def test_nvfp4_needs_the_megatron_whose_three_classes_hold_it(
    core: str, code: str, severity: str
) -> None:
    found = codes(NVFP4, {}, device="b200", **(NEW | {"megatron_core": core}))
    assert {c: s for c, s in found.items() if c.startswith("MG2")} == (
        {code: severity} if code else {}
    )


def test_mxfp8_on_mi355x_needs_its_environment_variable() -> None:
    facts = {"device": "mi355x", "transformer_engine": "2.16", "megatron_core": "0.18"}
    assert verdict(MXFP8, {"NVTE_ROCM_ENABLE_MXFP8": "1"}, **facts) == "y"
    assert verdict(MXFP8, {}, **facts) == "n"
    assert verdict(MXFP8, {"NVTE_ROCM_ENABLE_MXFP8": "0"}, **facts) == "n"
    assert verdict(MXFP8, None, **facts) == "?"


def test_nvfp4_on_rtx_trains_only_with_both_variables() -> None:
    both = {"NVTE_NVFP4_DISABLE_RHT": "1", "NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING": "1"}
    assert verdict(NVFP4, both, device="rtx5090", **NEW) == "w"
    assert verdict(NVFP4, dict([*both.items()][:1]), device="rtx5090", **NEW) == "n"
    assert verdict(NVFP4, None, device="rtx5090", **NEW) == "?"


@pytest.mark.parametrize(
    ("facts", "cell"),
    [
        ({"cuda": "12.0"}, "n"),
        ({"cuda": "12.1"}, "?"),
        ({"cuda": "12.1", "cublas": "12.1.0.26"}, "n"),
        ({"cuda": "12.1", "cublas": "12.1.3.1"}, "y"),
        ({"cuda": "12.2"}, "y"),
    ],
)
def test_ada_needs_cublas_12_1_3(facts: dict[str, str], cell: str) -> None:
    assert verdict(DELAYED, {}, device="l40s", **(NEW | facts)) == cell


def test_mi300_never_passes_for_hopper() -> None:
    facts = {"device": "mi300x", **NEW}
    assert {name: verdict(name, {}, **facts) for name in (BLOCKWISE, MXFP8)} == {
        BLOCKWISE: "n",
        MXFP8: "n",
    }


def test_a_device_that_no_source_names_is_unknown() -> None:
    assert verdict(MXFP8, {}, device="acme:x1", **NEW) == "?"


LLAMA = {
    "hidden_size": 4096,
    "ffn_hidden_size": 11008,
    "num_attention_heads": 32,
    "num_layers": 32,
    "tensor_model_parallel_size": 8,
    "pipeline_model_parallel_size": 1,
    "context_parallel_size": 1,
    "sequence_parallel": False,
    "micro_batch_size": 1,
    "seq_length": 4096,
    "use_distributed_optimizer": True,
}


def shape(name: str, **facts: object) -> list[str]:
    found = check(name, Situation({**NEW, **LLAMA, **facts}, environment={}))
    return [each.message for each in found if each.code[2:] in ("301", "302")]


def test_11008_at_tp_8_fits_the_blocks_of_mxfp8_but_not_rocms_gemm() -> None:
    assert shape(MXFP8, device="b200") == []
    (message,) = shape(MXFP8, device="mi355x")
    expected = "ffn_hidden_size 11008 / tensor_model_parallel_size 8 = 1376 is no multiple of 128"
    assert message.startswith(expected)


def test_the_remedy_names_the_nearest_value_and_split_that_fit() -> None:
    found = check(MXFP8, Situation({**LLAMA, "device": "mi355x"}))
    (remedy,) = [each.remedy for each in found if each.code == "MX301"]
    assert remedy == "Use ffn_hidden_size=11264 or tensor_model_parallel_size=2."
    assert shape(MXFP8, device="mi355x", ffn_hidden_size=11264) == []
    assert shape(MXFP8, device="mi355x", tensor_model_parallel_size=2) == []


def test_the_split_of_a_remedy_divides_the_heads() -> None:
    small = {"hidden_size": 896, "num_attention_heads": 14, "num_query_groups": 2}
    qwen = {**LLAMA, **small, "ffn_hidden_size": 4864, "kv_channels": 64, "device": "b200"}
    found = check(MXFP8, Situation({**qwen, **NEW}, environment={}))
    remedies = {each.remedy for each in found if each.code == "MX301"}
    assert remedies == {"Use tensor_model_parallel_size=2."}
    assert shape(MXFP8, **qwen | {"tensor_model_parallel_size": 2}) == []


HYBRID = {"device": "b200", "hybrid_layer_pattern": "M-M*", "ffn_hidden_size": 4096}
MAMBA = {"mamba_num_heads": 128, "mamba_head_dim": 64, "mamba_num_groups": 8}


@pytest.mark.parametrize("split", [1, 8])
def test_the_projection_into_a_mamba_layer_is_as_wide_as_what_it_makes(split: int) -> None:
    facts = {**HYBRID, **MAMBA, "mamba_state_dim": 128, "tensor_model_parallel_size": split}
    found = shape(MXFP8, **facts)
    assert [" 18560 / tensor_model_parallel_size 8 = 2320 is" in each for each in found] == (
        [True] if split > 1 else []
    )


def test_mamba_layers_of_unknown_size_are_unknown() -> None:
    (message,) = shape(MXFP8, **HYBRID)
    assert message == (
        "The GEMM shapes of MXFP8 were not all checked: mamba_head_dim, mamba_num_groups, "
        "mamba_num_heads, mamba_state_dim unknown."
    )


def test_multi_token_prediction_splits_the_hidden_size() -> None:
    narrow = {"device": "b200", "hidden_size": 4224, "kv_channels": 128, "ffn_hidden_size": 4096}
    assert shape(MXFP8, **narrow) == []
    (message,) = shape(MXFP8, **narrow, mtp_num_layers=1)
    assert message.startswith("hidden_size 4224 / tensor_model_parallel_size 8 = 528 is no")


def test_the_experts_narrower_space_is_checked_whole() -> None:
    found = shape(MXFP8, **EXPERTS | {"ffn_hidden_size": 4096, "moe_latent_size": 1040})
    assert found[:1] == ["moe_latent_size 1040 is no multiple of 32, as MXFP8 needs."]


@pytest.mark.parametrize(
    ("name", "gpu", "remedy"),
    [
        (BLOCKWISE, "a100", "Use bf16_mixed there."),
        (BLOCKWISE, "l40s", "Type bf16_with_fp8_current_scaling_mixed."),
        ("fp16_with_mxfp8_mixed", "h100", "Type fp16_with_fp8_current_scaling_mixed."),
        ("fp16_with_fp8_delayed_scaling_mixed", "a100", "Use fp16_mixed there."),
    ],
)
def test_the_remedy_is_a_recipe_that_runs_there(name: str, gpu: str, remedy: str) -> None:
    found = [each for each in check(name, {**NEW, "device": gpu}) if each.code[2:] == "201"]
    assert next(each.remedy for each in found if each.severity == "error") == remedy
    other = remedy.rstrip(".").split()[1]
    again = check(other, {**NEW, "device": gpu})
    assert not [each for each in again if each.code[2:] == "201" and each.severity == "error"]


EXPERTS = {"device": "b200", "num_moe_experts": 8, "ffn_hidden_size": 2880}


@pytest.mark.parametrize(("every", "counts"), [(1, False), (2, True), ([0] + [1] * 31, True)])
def test_the_dense_width_counts_only_where_a_layer_is_dense(every: object, *, counts: bool) -> None:
    own = {"moe_ffn_hidden_size": 4096, "expert_tensor_parallel_size": 1, "moe_layer_freq": every}
    found = shape(MXFP8, **EXPERTS, **own)
    assert any(each.startswith("ffn_hidden_size 2880 / tensor") for each in found) is counts


def test_experts_without_a_width_of_their_own_have_that_of_dense_layers() -> None:
    (message, _) = shape(MXFP8, **EXPERTS, expert_tensor_parallel_size=8)
    expected = "ffn_hidden_size 2880 / expert_tensor_parallel_size 8 = 360 is no multiple of 32"
    assert message.startswith(expected)


@pytest.mark.parametrize("name", [DELAYED, CURRENT])
def test_a_hidden_size_of_4104_does_not_fit_fp8(name: str) -> None:
    assert shape(name, device="h100", hidden_size=4104, kv_channels=128) == [
        f"hidden_size 4104 is no multiple of 16, as {WHAT[name]} needs."
    ]


WHAT = {DELAYED: "FP8 with delayed scaling", CURRENT: "FP8 with current scaling"}


def test_sequence_parallelism_divides_the_tokens_by_tp() -> None:
    assert shape(MXFP8, device="b200", seq_length=4160) == []
    (message,) = shape(MXFP8, device="b200", seq_length=4160, sequence_parallel=True)
    assert message.startswith("A rank's GEMM has 1 * 4160 / CP * TP 8 = 520 tokens")


def test_missing_shapes_are_unknown_by_name() -> None:
    (finding,) = [f for f in check(MXFP8, {"device": "b200"}) if f.code == "MX301"]
    assert finding.severity == "unknown"
    assert "hidden_size" in finding.message


def test_delayed_scaling_with_a_bf16_first_layer_is_an_error() -> None:
    name = f"{DELAYED}:first_last_layers_bf16=true,num_layers_at_start_in_bf16=1"
    assert codes(name)["DS101"] == "error"


def test_nemotron_super_on_12_layers_computes_nothing_in_fp4() -> None:
    name = "nemotron_3_super_bf16_with_nvfp4_mixed"
    assert codes(name, num_layers=12)["MG301"] == "error"
    assert "MG301" not in codes(name, num_layers=88, pipeline_model_parallel_size=8)


def test_bf16_layers_beyond_a_stage_are_an_error_where_megatron_refuses_them() -> None:
    name = "nemotron_h_bf16_with_fp8_current_scaling_mixed"
    assert codes(name, num_layers=52, pipeline_model_parallel_size=52)["MG301"] == "error"
    assert "MG301" not in codes(name, num_layers=52, pipeline_model_parallel_size=4)
    assert codes(name)["MG301"] == "unknown"


def test_every_code_of_a_finding_is_explained_and_unique() -> None:
    from mp_core.plugins import hooks

    offered = [rule.code for answer in hooks().mp_rules() for rule in answer]
    assert len(offered) == len(set(offered))
    found = {code for name, gpu, _ in CELLS for code in codes(name, {}, device=gpu, **NEW)}
    assert found <= {*offered, "MP201"}


def test_real_configs_are_taken_as_they_are_and_the_recipe_counts_as_set(fresh) -> None:
    found = check("bf16_with_fp8_delayed_scaling_mixed", list(fresh()))
    assert "MG102" not in {each.code for each in found}
    assert [each.code for each in found if each.code == "DS301"] == []
