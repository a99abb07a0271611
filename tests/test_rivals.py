"""Real wheels, built and installed: two rivals and a broken one beside each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mp_core

pytest.importorskip("hatchling", reason="hatchling builds the wheels of this test")

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "{name}"
version = "{version}"
[project.entry-points."mp_core.recipes"]
{own}_mixed = "{module}:own"
shared_mixed = "{module}:shared"
[project.entry-points."mp_core.plugins"]
{own} = "{module}"
[tool.hatch.build.targets.wheel]
only-include = ["{module}.py"]
"""
SOURCE = """
from mp_core import MixedPrecisionConfig, hookimpl
def own():
    return MixedPrecisionConfig(bf16=True, fp8_margin={margin})
shared = own
@hookimpl
def mp_vocabulary():
    return {{"fp8": ["{margin}"]}}
"""
RIVALS = {
    "acme-half": ("1.5", SOURCE.format(margin=1)),
    "other-half": ("2.0", SOURCE.format(margin=2)),
}
BROKEN = {"broken-half": ("0.3", "import a_module_that_is_missing\n")}
CHOICES = [
    ("shared_mixed@acme-half", {}, 1),
    ("shared-mixed@Other_Half:hysteresis=3", {}, 2),
    ("shared_mixed", {"MP_PREFER": "shared_mixed=other-half"}, 2),
    ("shared_mixed", {"MP_DISABLE_PLUGINS": "broken-half,other-half"}, 1),
    ("shared_mixed", {"MP_PLUGINS": "other-half"}, 2),
    ("shared_mixed", {"MP_PLUGIN_AUTOLOAD": "0", "MP_PLUGINS": "acme-half"}, 1),
    ("acme_mixed", {}, 1),
    ("other_mixed", {}, 2),
]


def build_and_install(folder: Path, target: Path) -> None:
    """Build a wheel of each distribution and install all of them with pip."""
    projects = []
    for name, (version, source) in {**RIVALS, **BROKEN}.items():
        project, module = folder / name, name.replace("-", "_")
        project.mkdir()
        own = name.partition("-")[0]
        text = PROJECT.format(name=name, version=version, own=own, module=module)
        (project / "pyproject.toml").write_text(text)
        (project / f"{module}.py").write_text(source)
        projects.append(str(project))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    wheels = ["wheel", "--no-build-isolation", "--no-deps", "-w", str(folder / "wheels")]
    subprocess.run([*pip, *wheels, *projects], check=True)
    built = sorted(str(wheel) for wheel in (folder / "wheels").glob("*.whl"))
    assert len(built) == 3
    subprocess.run([*pip, "install", "--no-deps", "--target", str(target), *built], check=True)


@pytest.fixture(scope="module")
def rivals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory into which the three wheels are installed."""
    folder = tmp_path_factory.mktemp("rivals")
    build_and_install(folder, folder / "site")
    return folder / "site"


def mp(rivals: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MP_")}
    return subprocess.run(
        [sys.executable, "-m", "mp_core", *arguments],
        env={**kept, "PYTHONPATH": str(rivals), **environment},
        cwd=rivals.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def margin(shown: subprocess.CompletedProcess[str]) -> Any:
    assert shown.returncode == 0, shown.stderr
    fields = {each["field"]: each["value"] for each in json.loads(shown.stdout)["fields"]}
    return fields["fp8_margin"]


def test_the_conflict_is_listed_with_both_sides_and_costs_no_other_name(rivals: Path) -> None:
    rows = json.loads(mp(rivals, "list", "--json").stdout)["recipes"]
    found = {(row["name"], row["distribution"], row["version"]): row["conflict"] for row in rows}
    assert found[("shared_mixed", "acme-half", "1.5")]
    assert found[("shared_mixed", "other-half", "2.0")]
    assert found[("acme_mixed", "acme-half", "1.5")] is False
    assert ("broken_mixed", "broken-half", "0.3") in found


def test_the_bare_name_is_refused_with_both_sides_and_what_to_type(rivals: Path) -> None:
    shown = mp(rivals, "show", "shared_mixed")
    assert shown.returncode == 1
    for part in ("acme-half 1.5", "other-half 2.0", "shared_mixed@acme-half", "MP_PREFER"):
        assert part in shown.stderr
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize(("name", "environment", "expected"), CHOICES)
def test_each_documented_way_to_choose_works(
    rivals: Path, name: str, environment: dict[str, str], expected: int
) -> None:
    assert margin(mp(rivals, "show", name, "--json", **environment)) == expected


def test_the_broken_one_costs_itself_and_is_named_once(rivals: Path) -> None:
    shown = mp(rivals, "show", "acme_mixed", "--json")
    assert margin(shown) == 1
    assert shown.stderr.count("broken-half 0.3 [broken = broken_half] cannot be loaded") == 1
    assert "a_module_that_is_missing" in shown.stderr


def test_the_broken_ones_own_recipe_says_why_and_how_to_go_on(rivals: Path) -> None:
    shown = mp(rivals, "show", "broken_mixed")
    assert shown.returncode == 1
    for part in ("broken-half 0.3", "ModuleNotFoundError", "MP_DISABLE_PLUGINS=broken-half"):
        assert part in shown.stderr
    assert "Traceback" not in shown.stderr


def test_core_itself_does_not_come_from_the_rivals_directory(rivals: Path) -> None:
    assert rivals not in Path(str(mp_core.__file__)).parents
