"""``mp memory`` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mp_core.cli import main

CURRENT = "bf16_with_fp8_current_scaling_mixed:fp8_param_gather=false"
MODEL = [
    "--num-layers",
    "4",
    "--hidden-size",
    "64",
    "--ffn-hidden-size",
    "128",
    "--num-attention-heads",
    "4",
    "--vocab-size",
    "256",
    "--gpu",
    "h100",
]


def typed(*arguments: str) -> Result:
    """Return what ``mp memory`` with *arguments* gives."""
    return CliRunner(env={"COLUMNS": None}).invoke(main, ["memory", *arguments])


def test_recipes_stand_side_by_side_with_a_bar_each() -> None:
    ran = typed("bf16_mixed", CURRENT, *MODEL)
    assert ran.exit_code == 0
    assert (
        sum(
            line.startswith(("bf16_mixed ", CURRENT)) and "█" in line
            for line in ran.output.splitlines()
        )
        == 2
    )
    assert "more than 16-bit training takes" in ran.output


def test_it_says_what_is_not_in_the_numbers_and_what_was_assumed() -> None:
    output = typed("bf16_mixed", *MODEL).output
    assert "Activations, workspaces and fragmentation are not in" in output
    assert "as nobody gave it: add_bias_linear=True" in output


def test_json_has_the_bytes_of_each_kind() -> None:
    (found,) = json.loads(typed("bf16_mixed", *MODEL, "--dp", "8", "--json").output)["recipes"]
    assert found["bytes_per_parameter"]["total"] == 7.5
    assert [row["kind"] for row in found["rows"]] == ["embedding", "attention", "mlp", "norms"]
    assert sum(row["weights"] for row in found["rows"]) == found["bytes_on_gpu"]["weights"]


def test_without_a_model_bytes_per_parameter_are_told() -> None:
    ran = typed("bf16_mixed")
    assert ran.exit_code == 0
    assert "18.00" in ran.output


def test_a_missing_size_is_a_usage_error_that_names_the_option() -> None:
    ran = typed("bf16_mixed", "--num-layers", "4")
    assert (ran.exit_code, "--" in ran.output) == (2, True)
    assert "is not known; type --" in ran.output


def test_a_target_file_gives_the_shape(tmp_path: Path) -> None:
    names = dict(zip(MODEL[:-2:2], MODEL[1:-2:2], strict=True))
    text = "\n".join(f"{k[2:].replace('-', '_')}: {v}" for k, v in names.items())
    (tmp_path / "run.yaml").write_text(text, encoding="utf-8")
    from_file = typed("bf16_mixed", "--target", str(tmp_path / "run.yaml"), "--json").output
    assert json.loads(from_file) == json.loads(typed("bf16_mixed", *MODEL, "--json").output)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_picture_is_written_in_the_format_of_its_ending(tmp_path: Path, ending: str) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"cost.{ending}"
    assert typed("bf16_mixed", CURRENT, *MODEL, "--plot", str(path)).exit_code == 0
    assert {"png": b"PNG", "svg": b"<svg"}[ending] in path.read_bytes()


def test_a_picture_that_cannot_be_written_is_one_readable_line(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    ran = typed("bf16_mixed", "--plot", str(tmp_path / "cost.banana"))
    assert ran.exit_code == 1
    assert "the picture cannot be written" in ran.output
