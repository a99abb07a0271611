"""The verbs that ask before the job: check, matrix and explain."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mp_core import PrecisionRefused, check, make_plan
from mp_core.cli import main

MXFP8 = "bf16_with_mxfp8_mixed"
WHOLE = """
hidden_size: 4096
ffn_hidden_size: 14336
num_attention_heads: 32
num_query_groups: 8
tensor_model_parallel_size: 1
context_parallel_size: 1
sequence_parallel: false
micro_batch_size: 1
seq_length: 8192
use_distributed_optimizer: true
overlap_param_gather: false
hiden_size: 3
"""
B200 = ("--gpu", "b200", "--cuda", "12.9", "--te", "2.8", "--mcore", "0.16.1")


def run(*typed: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, typed)
    return done.exit_code, done.output


def report(*typed: str) -> Any:
    return json.loads(run(*typed, "--json")[1])


def test_an_error_is_exit_status_1_and_a_clean_run_0(tmp_path: Path) -> None:
    target = tmp_path / "model.yaml"
    target.write_text(WHOLE, encoding="utf-8")
    assert run("check", MXFP8, "--gpu", "h100")[0] == 1
    status, text = run("check", MXFP8, *B200, "--target", str(target), "--strict")
    assert status == 0
    assert "It can run." in text
    assert "model.yaml: hiden_size; did you mean 'hidden_size'?" in text


def test_unknown_fails_only_where_it_is_strict() -> None:
    assert run("check", MXFP8, *B200)[0] == 0
    assert run("check", MXFP8, *B200, "--strict")[0] == 1


def test_json_has_the_recipe_the_facts_with_their_origins_and_the_findings() -> None:
    said = report("check", MXFP8, "--gpu", "h100")
    assert set(said) == {"findings", "recipe", "situation"}
    assert said["situation"]["device"] == {"value": "cuda:sm90", "origin": "given"}
    assert said["situation"]["hidden_size"] == {"value": None, "origin": "unknown"}
    assert set(said["findings"][0]) == {"code", "message", "remedy", "severity", "source"}
    assert said["findings"][0]["code"] == "MX201"


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--gpu", "h10000", "no GPU 'h10000'"),
        ("--cuda", "twelve", "'twelve' is not a version"),
        ("--env", "x", "write NAME=VALUE"),
        ("--tp", "0", "0 is not in the range"),
    ],
)
def test_what_cannot_be_read_is_a_usage_error(option: str, value: str, said: str) -> None:
    status, text = run("check", MXFP8, option, value)
    assert status == 2
    assert said in text


def test_the_matrix_says_no_with_the_code_that_check_gives() -> None:
    cells = {(c["recipe"], c["gpu"]): c for c in report("matrix", "--gpu", "h100")["cells"]}
    cell = cells[MXFP8, "h100"]
    assert (cell["word"], cell["findings"][0]["code"]) == ("no", "MX201")


def test_every_code_of_the_matrix_is_explained() -> None:
    cells = report("matrix")["cells"]
    for code in sorted({finding["code"] for cell in cells for finding in cell["findings"]}):
        assert report("explain", code)["code"] == code


def test_a_field_is_explained_with_the_recipes_that_set_it() -> None:
    told = report("explain", "grad-reduce-in-fp32")
    assert "bf16_mixed: True" in told["set by"]
    assert any("significand" in each for each in told["advice"])


def test_what_is_neither_code_nor_field_gets_the_closest() -> None:
    status, text = run("explain", "fp8_margn")
    assert status == 2
    assert "did you mean 'fp8_margin'?" in text


@pytest.mark.parametrize("verb", [("check", MXFP8, "--gpu", "b200"), ("matrix",)])
def test_no_framework_is_imported_to_answer(verb: tuple[str, ...]) -> None:
    code = f"import sys; from mp_core.cli import main; main({list(verb)!r}, standalone_mode=False);"
    code += "print('loaded', [n for n in ('torch', 'megatron.core') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded []"


def test_a_plan_knows_the_megatron_that_is_installed_here(tmp_path: Path) -> None:
    target = tmp_path / "model.yaml"
    target.write_text(WHOLE.replace("hiden_size: 3", ""), encoding="utf-8")
    status, text = run("plan", MXFP8, "--target", str(target))
    # The oldest refuses MXFP8 parameters: then there is no plan to look at.
    assert "MG201 unknown" not in text
    assert status == 0 or "refuses" in text or "has no place" in text


def test_only_the_first_rank_is_warned_and_every_rank_refuses(
    fresh: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "bf16_with_fp8_delayed_scaling_mixed"
    monkeypatch.setenv("RANK", "1")
    model, optimizer, ddp = fresh()
    optimizer.use_distributed_optimizer = ddp.use_distributed_optimizer = False
    assert make_plan(name, model, optimizer, ddp).findings == ()
    with pytest.raises(PrecisionRefused, match="MG104"):
        make_plan(name, model, optimizer, ddp, check="error")


@pytest.mark.parametrize("verb", ["check", "memory", "plan"])
def test_every_verb_says_what_it_does_not_understand_in_a_target(verb: str, tmp_path: Path) -> None:
    target = tmp_path / "model.yaml"
    target.write_text("hiden_size: 3", encoding="utf-8")
    assert "hiden_size; did you mean 'hidden_size'?" in run(verb, MXFP8, "--target", str(target))[1]


def test_a_setting_of_a_family_that_is_off_is_named() -> None:
    (finding,) = [f for f in check("bf16_mixed:fp8_margin=1") if f.code == "MP101"]
    assert (finding.severity, finding.message) == (
        "warning",
        "fp8_margin does nothing: fp8 is off.",
    )
    assert "MP101" not in {f.code for f in check("bf16_mixed")}
