"""A vendor's wheel brings a device, and all that ours bring, and touches no file of ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "data" / "mp-plugin-acme"
RECIPE = "bf16_with_acme_fp8_mixed"
ON = ("--env", "ACME_FP8=1")
VERSIONS = ("--cuda", "13.0", "--te", "2.16", "--mcore", "0.18.2")
Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def python(*arguments: str, site: Path, **environment: str) -> Done:
    """Run this interpreter in *site*'s parent, with *site* first on its path."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("ACME_", "MP_", "NVTE_"))}
    env = {**kept, "PYTHONPATH": str(site), "COLUMNS": "200", **environment}
    command = [sys.executable, *arguments]
    where = site.parent
    return subprocess.run(command, env=env, cwd=where, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory that holds the vendor's installed wheel, built as anybody builds one."""
    folder = tmp_path_factory.mktemp("acme")
    wheels, made = folder / "wheels", folder / "site"
    pip = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "-qq"]
    build = ["wheel", "--no-deps", "--no-index", "--no-build-isolation", "-w", str(wheels)]
    subprocess.run([*pip, *build, str(SOURCE)], check=True)
    install = ["install", "--no-deps", "--no-index", "--target", str(made)]
    subprocess.run([*pip, *install, *map(str, wheels.iterdir())], check=True)
    return made


@pytest.fixture(scope="module")
def mp(site: Path) -> Run:
    """The command line where the wheel is installed."""
    return lambda *typed, **environment: python("-m", "mp_core", *typed, site=site, **environment)


def findings(done: Done) -> dict[str, str]:
    """Return the severities of a check by code."""
    assert not done.stderr
    return {each["code"]: each["severity"] for each in json.loads(done.stdout)["findings"]}


def acme(done: Done) -> dict[str, str]:
    return {code: word for code, word in findings(done).items() if code.startswith("AC")}


def answer(done: Done) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_wheel_installs_its_own_package_and_nothing_else(site: Path) -> None:
    assert {path.name for path in site.iterdir()} == {
        "mp_plugin_acme",
        "mp_plugin_acme-1.0.0.dist-info",
    }


def test_its_recipe_is_listed_and_shown_under_its_own_distribution(mp: Run) -> None:
    listed = answer(mp("list", "--json"))
    rows = {row["name"]: row["distribution"] for row in listed["recipes"]}
    assert rows[RECIPE] == "mp-plugin-acme"
    assert listed["problems"] == []
    shown = answer(mp("show", RECIPE, "--json"))
    fields = {row["field"]: (row["value"], row["origin"]) for row in shown["fields"]}
    assert (shown["distribution"], shown["version"]) == ("mp-plugin-acme", "1.0.0")
    assert fields["fp8_recipe"] == ("acme", "recipe")
    assert fields["bf16"] == (True, "base recipe")


@pytest.mark.parametrize(
    ("environment", "found"),
    [((), {"AC206": "unknown"}), (("--env", "none"), {"AC206": "error"}), (ON, {})],
)
def test_its_device_needs_its_variable(
    environment: tuple[str, ...], found: dict[str, str], mp: Run
) -> None:
    done = mp("check", RECIPE, "--gpu", "acme-npu2", *environment, *VERSIONS, "--json")
    assert acme(done) == found
    assert done.returncode == int("error" in found.values())
    assert json.loads(done.stdout)["situation"]["device"]["value"] == "acme:npu2"


@pytest.mark.parametrize(("gpu", "severity"), [("acme:npu1", "error"), ("h100", "unknown")])
def test_where_its_rows_say_no_or_nothing_its_recipe_does_not_pass(
    gpu: str, severity: str, mp: Run
) -> None:
    assert acme(mp("check", RECIPE, "--gpu", gpu, *ON, "--json")) == {"AC201": severity}


def test_its_own_rule_is_found_and_explained(mp: Run) -> None:
    done = mp("check", f"{RECIPE}:fp8=hybrid", "--gpu", "acme-npu2", *ON, "--json")
    assert acme(done) == {"AC101": "error"}
    told = answer(mp("explain", "AC101", "--json"))
    assert told["why"] == "Acme's matrix units take FP8 as E4M3 only."
    assert answer(mp("explain", "AC206", "--json"))["source"] == "Acme SDK manual 2.1, FP8"


def test_it_says_where_a_recipe_of_ours_runs_too(mp: Run) -> None:
    assert "HF201" not in findings(mp("check", "bf16_mixed", "--gpu", "acme-npu2", "--json"))
    elsewhere = findings(mp("check", "bf16_mixed", "--gpu", "acme:npu3", "--json"))
    assert elsewhere["HF201"] == "unknown"


def test_the_plain_matrix_has_a_column_for_each_of_its_products(mp: Run) -> None:
    cells = answer(mp("matrix", "--json"))["cells"]
    assert {"acme-npu1", "acme-npu2", "h100"} <= {cell["gpu"] for cell in cells}


def test_its_device_is_detected_where_no_gpu_is_given(mp: Run) -> None:
    done = mp("check", RECIPE, "--json", ACME_VISIBLE_DEVICE="acme-npu1")
    device = json.loads(done.stdout)["situation"]["device"]
    assert device == {"value": "acme:npu1", "origin": "detected"}
    assert acme(done) == {"AC201": "error"}


def test_a_device_that_it_detects_and_nothing_knows_is_its_own_fault(mp: Run) -> None:
    done = mp("check", RECIPE, "--json", ACME_VISIBLE_DEVICE="acme npu nine")
    assert json.loads(done.stdout)["situation"]["device"]["value"] is None
    assert "mp-plugin-acme" in done.stderr


def test_the_matrix_has_its_device_and_every_fp8_recipe_of_ours_is_unknown_there(mp: Run) -> None:
    gpus = ("--gpu", "acme-npu2", "--gpu", "acme:npu1")
    cells = answer(mp("matrix", *gpus, *ON, *VERSIONS, "--json"))["cells"]
    own = {cell["gpu"]: cell for cell in cells if cell["recipe"] == RECIPE}
    ours = [c for c in cells if c["recipe"] not in (RECIPE, "bf16_mixed")]
    assert not [f for f in own["acme-npu2"]["findings"] if f["code"].startswith("AC")]
    assert (own["acme:npu1"]["word"], own["acme:npu1"]["findings"][0]["code"]) == ("no", "AC201")
    assert len({cell["recipe"] for cell in ours}) > 14
    for cell in ours:
        unknown = [f["message"] for f in cell["findings"] if f["severity"] == "unknown"]
        assert cell["word"] == "?"
        assert any("acme:npu" in message for message in unknown), cell


def test_its_recipe_object_is_printed_and_made_from_its_own_class(mp: Run, site: Path) -> None:
    code = mp("te-recipe", f"{RECIPE}:fp8_margin=2").stdout
    made = "AcmeScaling(fp8_format=<Format.E4M3: 'e4m3'>, margin=2)\n"
    assert code.startswith("from mp_plugin_acme.runtime import AcmeScaling, Format\n")
    assert python("-c", f"{code}print(recipe)", site=site).stdout == made
    ask = "from mp_core import get_mixed_precision_config as get"
    code = f"{ask}; print(get('{RECIPE}:fp8_margin=2').te_recipe())"
    assert python("-c", code, site=site).stdout == made


def test_what_its_class_cannot_hold_is_refused_in_its_own_words(mp: Run) -> None:
    done = mp("te-recipe", f"{RECIPE}:fp8=hybrid")
    assert done.returncode == 2
    assert done.stderr == "mp: AcmeScaling has no format fp8=hybrid; type fp8=e4m3\n"


def test_its_bytes_are_counted_with_its_source(mp: Run) -> None:
    (row,) = answer(mp("memory", RECIPE, "--gpu", "acme-npu2", "--json"))["recipes"]
    assert row["bytes_per_parameter"]["weights"] == 3.0
    assert row["basis"] == "documented"
    assert row["source"].startswith("Acme SDK manual 2.1, FP8; ")


@pytest.fixture(scope="module")
def doctor(mp: Run) -> Any:
    return json.loads(mp("doctor", "--json", ACME_FP8="1").stdout)


def test_the_doctor_names_its_distribution_and_its_variable(doctor: Any) -> None:
    variable = {"value": "1", "changes": "1 turns FP8 on in Acme's library"}
    assert doctor["installed"]["mp-plugin-acme"] == "1.0.0"
    assert doctor["environment"]["ACME_FP8"] == variable
    assert doctor["problems"] == []


def test_the_doctor_does_not_ask_for_a_library_that_its_recipe_never_uses(doctor: Any) -> None:
    (row,) = [each for each in doctor["recipes"] if each["recipe"] == RECIPE]
    assert "transformer_engine" not in str(row["because"])


def test_a_megatron_that_may_refuse_its_precision_is_not_passed_over(mp: Run) -> None:
    done = mp("check", RECIPE, "--gpu", "acme-npu2", *ON, *VERSIONS, "--json")
    assert findings(done)["MG207"] == "unknown"


@pytest.mark.parametrize(
    ("recipe", "gpu", "said"),
    [("bf16_mixed", "acme-npu2", "no GPU 'acme-npu2'"), (RECIPE, "h100", f"no recipe '{RECIPE}'")],
)
def test_without_the_wheel_its_names_are_refused(
    recipe: str, gpu: str, said: str, tmp_path: Path
) -> None:
    done = python("-m", "mp_core", "check", recipe, "--gpu", gpu, site=tmp_path / "empty")
    assert done.returncode == 2
    assert said in done.stderr


def test_switched_off_it_is_refused_by_name(mp: Run) -> None:
    done = mp("check", RECIPE, "--gpu", "h100", MP_DISABLE_PLUGINS="mp-plugin-acme")
    assert done.returncode == 2
    assert "mp-plugin-acme 1.0.0" in done.stderr
