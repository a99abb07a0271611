"""The ``mp`` command with every plugin installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mp_core.catalogue import known_recipes
from mp_core.cli import main


def mp(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def as_json(*arguments: str) -> Any:
    result = mp(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_list_names_every_first_party_recipe_with_its_distribution() -> None:
    listed = as_json("list")
    assert [row["name"] for row in listed["recipes"]] == known_recipes()
    assert {row["distribution"].split("-")[1] for row in listed["recipes"]} == {"plugin"}
    assert listed["problems"] == listed["disabled"] == []


def test_list_says_which_name_is_another_name() -> None:
    assert "bf16_with_fp8_mixed is another name of" in mp("list").output


def test_show_gives_every_field_with_its_origin_and_the_advice() -> None:
    shown = as_json("show", "bf16_with_mxfp8_mixed:fp8_margin=1")
    fields = {row["field"]: row for row in shown["fields"]}
    assert len(fields) == 31
    assert (fields["bf16"]["origin"], fields["bf16"]["base"]) == ("base recipe", "bf16_mixed")
    assert fields["fp8"]["origin"] == "recipe"
    assert fields["fp8_margin"]["origin"] == "override"
    assert fields["hysteresis"]["inactive"] == "only fp16 scales the loss"
    assert shown["advice"]


@pytest.mark.parametrize("name", known_recipes())
def test_every_recipe_has_advice_with_a_source(name: str) -> None:
    advice = as_json("show", name)["advice"]
    assert advice
    assert all(each["text"] and each["source"] for each in advice)


def test_diff_names_the_fields_that_differ_and_no_other() -> None:
    differing = as_json("diff", "bf16_mixed", "fp16_mixed")["fields"]
    names = ["fp16", "bf16", "params_dtype", "pipeline_dtype", "grad_reduce_in_fp32"]
    assert [row["field"] for row in differing] == names
    assert "hold the same values" in mp("diff", "bf16_mixed", "bf16-mixed").output


def test_plan_without_a_target_is_of_default_configs() -> None:
    plan = as_json("plan", "bf16_mixed")
    assert {row["target"] for row in plan["changes"]} == {"ddp", "model", "optimizer"}
    assert plan["conflicts"] == plan["findings"] == []


def test_plan_takes_the_values_of_a_file_as_the_users_word(tmp_path: Path) -> None:
    target = tmp_path / "model.yaml"
    target.write_text("num_layers: 8\ngrad_reduce_in_fp32: false\n")
    (conflict,) = as_json("plan", "bf16_mixed", "--target", str(target))["conflicts"]
    assert conflict["field"] == "grad_reduce_in_fp32"
    kept = as_json("plan", "bf16_mixed", "--target", str(target), "--on-conflict", "keep")
    assert [row["field"] for row in kept["kept"]] == ["grad_reduce_in_fp32"]
    refused = mp("plan", "bf16_mixed", "--target", str(target), "--on-conflict", "error")
    assert refused.exit_code == 1


def test_plan_exits_with_one_on_a_finding_of_error_severity(tmp_path: Path) -> None:
    target = tmp_path / "model.json"
    target.write_text('{"use_distributed_optimizer": false}')
    result = mp("plan", "bf16_with_fp8_delayed_scaling_mixed", "--target", str(target))
    assert result.exit_code == 1
    assert "MG104" in result.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("- a list", "holds no mapping"),
        ("a: [", "is not YAML or JSON"),
        ("num_layer: 3", "did you mean 'num_layers'"),
        ("", "holds no mapping"),
    ],
)
def test_a_bad_target_file_is_one_message_and_usage(
    content: str, message: str, tmp_path: Path
) -> None:
    target = tmp_path / "model.yaml"
    target.write_text(content)
    result = mp("plan", "bf16_mixed", "--target", str(target))
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize("verb", ["diff", "plan", "show"])
def test_an_unknown_recipe_is_one_message_and_usage(verb: str) -> None:
    result = mp(verb, *["bf16_mixd"] * (2 if verb == "diff" else 1))
    assert result.exit_code == 2
    assert "did you mean 'bf16_mixed'" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        ("show", "nemotron_h_bf16_with_fp8_current_scaling_mixed"),
        ("plan", "bf16_with_fp8_current_scaling_mixed"),
        ("diff", "bf16_mixed", "bf16_with_fp8_delayed_scaling_mixed"),
    ],
)
def test_output_fits_eighty_columns_and_loses_no_text(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    output = mp(*arguments).output
    assert "…" not in output
    assert max(len(line.rstrip()) for line in output.splitlines()) <= 80


def test_list_imports_neither_torch_nor_a_plugin() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "mp_core", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "mp_core.discovery" in imported
    assert not [n for n in imported if n.partition(".")[0] in ("megatron", "torch")]
    assert not [n for n in imported if n.startswith("mp_plugin")]


def test_a_pipe_gets_no_escapes_and_whole_lines() -> None:
    command = [sys.executable, "-m", "mp_core", "show", "bf16_mixed"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout
    assert not [line for line in done.stdout.splitlines() if line != line.rstrip()]
