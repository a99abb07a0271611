"""FP8 attention: each cell of the published table, and what the environment does to it.

Source: TransformerEngine pytorch/attention/dot_product_attention/utils.py, 2.8 to 2.20.
"""

from __future__ import annotations

import pytest

from mp_core import Situation, check

DELAYED = "bf16_with_fp8_delayed_scaling_mixed"
CURRENT = "bf16_with_fp8_current_scaling_mixed"
BLOCKWISE = "bf16_with_fp8_subchannel_scaling_mixed"
MXFP8, NVFP4 = "bf16_with_mxfp8_mixed", "bf16_with_nvfp4_mixed"
ON = "fp8_dot_product_attention=true"
NEW = {
    "cuda": "13.0",
    "cudnn": "9.21",
    "transformer_engine": "2.16",
    "megatron_core": "0.18.2",
}
GPUS = ("a100", "l40s", "h100", "b200", "b300", "rtx5090")
#: y: trains; n: no backend; 6: stays in 16 bits.
TABLE = {
    DELAYED: "nnyyyn",
    CURRENT: "nnnyyn",
    MXFP8: "nnnyyn",
    NVFP4: "nnnnnn",
    BLOCKWISE: "666666",
}
CELLS = [
    (name, gpu, cell) for name, row in TABLE.items() for gpu, cell in zip(GPUS, row, strict=True)
]


def codes(name: str, environment: dict[str, str] | None = None, **facts: object) -> dict[str, str]:
    """Return the severities by code that FP8 attention has over the same recipe without it."""
    situation = Situation({**NEW, **facts}, environment=environment)
    plain = {each.code for each in check(name, situation)}
    found = check(f"{name}:{ON}", situation)
    return {each.code: each.severity for each in found if each.code not in plain}


@pytest.mark.parametrize(("name", "gpu", "cell"), CELLS)
def test_fp8_attention_trains_where_the_table_says(name: str, gpu: str, cell: str) -> None:
    found = codes(name, device=gpu)
    if cell == "6":
        assert found == {"SC101": "warning"}
    else:
        assert ("error" in found.values()) == (cell == "n")
        assert "unknown" not in found.values()


@pytest.mark.parametrize("name", [DELAYED, CURRENT, MXFP8])
def test_without_the_device_fp8_attention_is_unknown(name: str) -> None:
    assert set(codes(name).values()) == {"unknown"}


@pytest.mark.parametrize(
    ("name", "cudnn", "deterministic", "code"),
    [
        (CURRENT, "9.13", False, "CS404"),
        (CURRENT, "9.14", False, None),
        (CURRENT, "9.14", True, "CS404"),
        (CURRENT, "9.18", True, None),
        (DELAYED, "9.14", False, None),
        (DELAYED, "9.14", True, "DS404"),
        (MXFP8, "9.20", False, "MX404"),
        (MXFP8, "9.21", True, None),
        (MXFP8, "9.23.0", False, "MX407"),
        (MXFP8, "9.23.1", False, "MX407"),
        (MXFP8, "9.23.2", False, None),
    ],
)
def test_fp8_attention_on_blackwell_needs_its_cudnn(
    name: str, cudnn: str, deterministic: bool, code: str | None
) -> None:
    found = codes(name, device="b200", cudnn=cudnn, deterministic_mode=deterministic)
    assert [each for each in found if found[each] == "error"] == ([code] if code else [])


def test_delayed_attention_on_hopper_is_deterministic_with_any_cudnn() -> None:
    assert not codes(DELAYED, device="h100", cudnn="9.3", deterministic_mode=True)


def test_an_unknown_cudnn_is_asked_for_where_attention_needs_one() -> None:
    situation = Situation({"device": "b200", "transformer_engine": "2.16", "cuda": "13.0"})
    found = {each.code: each.severity for each in check(f"{CURRENT}:{ON}", situation)}
    assert found["CS404"] == "unknown"
    assert "cudnn" in situation.missing()


@pytest.mark.parametrize(
    ("name", "before", "since"),
    [(CURRENT, "0.14.0", "0.15"), (NVFP4, "0.16.1", "0.17"), (MXFP8, "0.17.1", "0.18")],
)
def test_a_megatron_that_drops_fp8_attention_is_named(name: str, before: str, since: str) -> None:
    assert codes(name, device="b200", megatron_core=before)["MG203"] == "warning"
    assert "MG203" not in codes(name, device="b200", megatron_core=since)


def test_fp8_attention_under_nvfp4_runs_in_a_recipe_of_its_own() -> None:
    own = {"NVTE_DPA_FP8_RECIPE": "Float8CurrentScaling"}
    assert codes(NVFP4, {}, device="b200")["NV401"] == "error"
    assert codes(NVFP4, own, device="b200") == {"TE602": "warning"}


@pytest.mark.parametrize(
    ("name", "variable", "value", "code", "since"),
    [
        (CURRENT, "NVTE_FP8_CURRENT_SCALING_POWER_2_SCALES", "1", "CS601", "2.8"),
        (BLOCKWISE, "NVTE_FP8_BLOCK_SCALING_FP32_SCALES", "1", "SC601", "2.3"),
        (NVFP4, "NVTE_NVFP4_DISABLE_RHT", "1", "NV601", "2.8"),
        (NVFP4, "NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING", "1", "NV601", "2.8"),
        (NVFP4, "NVTE_NVFP4_DISABLE_2D_QUANTIZATION", "1", "NV601", "2.8"),
        (NVFP4, "NVTE_NVFP4_ROW_SCALED_ACTIVATION", "1", "NV601", "2.16"),
        (NVFP4, "NVTE_NVFP4_4OVER6", "all", "NV601", "2.17"),
        (MXFP8, "NVTE_BACKWARD_OVERRIDE", "dequantized", "TE601", "2.15"),
        (DELAYED, "NVTE_BACKWARD_OVERRIDE", "dequantized", "DS601", "2.15"),
    ],
)
def test_a_variable_that_changes_the_recipe_is_named_where_its_release_reads_it(
    name: str, variable: str, value: str, code: str, since: str
) -> None:
    def named(release: str, **environment: str) -> bool:
        facts = {"device": "b200", "cuda": "13.0", "transformer_engine": release}
        found = check(name, Situation(facts, environment=environment))
        return any(each.code == code and variable in each.message for each in found)

    major, minor = since.split(".")
    before = f"{major}.{int(minor) - 1}"
    assert named(since, **{variable: value})
    assert not named(before, **{variable: value})
    assert not named(since)


def test_a_variable_at_its_default_is_no_finding() -> None:
    environment = {"NVTE_NVFP4_DISABLE_RHT": "0", "NVTE_NVFP4_4OVER6": "none"}
    found = check(NVFP4, Situation({**NEW, "device": "b200"}, environment=environment))
    assert "NV601" not in {each.code for each in found}


def test_a_variable_that_the_device_needs_is_no_change() -> None:
    needed = {"NVTE_NVFP4_DISABLE_RHT": "1", "NVTE_NVFP4_DISABLE_STOCHASTIC_ROUNDING": "1"}
    for device, said in (("rtx5090", False), ("b200", True)):
        found = check(NVFP4, Situation({**NEW, "device": device}, environment=needed))
        assert ("NV601" in {each.code for each in found}) is said


def test_attention_variables_are_silent_where_attention_is_not_in_fp8() -> None:
    environment = {"NVTE_FP8_DPA_BWD": "0"}
    situation = Situation({**NEW, "device": "b200"}, environment=environment)
    assert "TE602" not in {each.code for each in check(CURRENT, situation)}
    assert "TE602" in {each.code for each in check(f"{CURRENT}:{ON}", situation)}
