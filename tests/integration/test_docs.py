"""The examples of README.md and docs/ do what the pages say."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mp_core import MIXED_PRECISION_RECIPES, Situation, check
from mp_core.cli import main
from mp_core.verdicts import rules

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
#: discovery.md shows another place, with plugins of its own: tests/test_discovery_page.py.
RUN = [page for page in PAGES if page.name != "discovery.md"]
RECIPE_PAGES = sorted((ROOT / "docs" / "recipes").glob("*.md"))
LINK = re.compile(r"\]\((?!https?:)([^)#]+)|^\[[^]]+\]: (\S+)", re.MULTILINE)
#: A row of a recipe's page that says where it runs: the GPU, and what it needs.
ROW = re.compile(r"^\| (\w+) \| yes[^|]* \| ([^|]*) \|", re.MULTILINE)
NEEDS = {
    "CUDA": "cuda",
    "PyTorch": "torch",
    "Transformer Engine": "transformer_engine",
    "cuBLAS": "cublas",
    "cuDNN": "cudnn",
    "megatron-core": "megatron_core",
}
PYTHON = re.compile(r"```python\n(.*?)```(?:\n\n```output\n(.*?)```)?", re.DOTALL)
CONSOLE = re.compile(r"```console\n\$ mp (.*?)\n(.*?)```", re.DOTALL)
COMMANDS = [
    pytest.param(typed, printed, id=f"{page.name}: mp {typed}")
    for page in RUN
    for typed, printed in CONSOLE.findall(page.read_text(encoding="utf-8"))
]


def installed() -> tuple[int, ...]:
    from megatron.core import __version__

    return tuple(int(part) for part in __version__.split(".")[:2])


newest = pytest.mark.skipif(
    installed() < (0, 16), reason="the pages show the fields of Megatron-Core 0.16 and later"
)


@newest
@pytest.mark.parametrize("page", RUN, ids=[page.name for page in RUN])
def test_the_python_of_a_page_prints_what_the_page_shows(page: Path) -> None:
    names: dict[str, Any] = {}
    for code, shown in PYTHON.findall(page.read_text(encoding="utf-8")):
        with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(code, names)  # noqa: S102 # the page's own code is what is tested
        assert printed.getvalue() == shown


@newest
@pytest.mark.parametrize(("typed", "shown"), COMMANDS)
def test_a_command_prints_what_the_page_shows(
    typed: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    printed = CliRunner().invoke(main, typed.split()).output
    whole = shown.rstrip().removesuffix("...")
    assert printed.startswith(whole) if whole != shown.rstrip() else printed == shown


@pytest.mark.parametrize("page", [*PAGES, *RECIPE_PAGES], ids=lambda page: page.name)
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    links = ["".join(found) for found in LINK.findall(page.read_text(encoding="utf-8"))]
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES[1:] if f"docs/{page.name}" not in readme] == []


def test_the_page_of_recipes_is_what_the_recipes_say() -> None:
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


def test_each_installed_recipe_has_a_page_and_each_page_a_recipe() -> None:
    assert [page.stem for page in RECIPE_PAGES] == sorted(MIXED_PRECISION_RECIPES)


def test_a_page_that_is_missing_and_one_that_is_left_over_are_named(tmp_path: Path) -> None:
    for folder in ("docs", "tests/data"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    recipes = tmp_path / "docs" / "recipes"
    (recipes / "bf16_mixed.md").rename(recipes / "removed_mixed.md")
    command = [sys.executable, str(tmp_path / "docs" / "generate.py"), "--check"]
    checked = subprocess.run(command, check=False, capture_output=True, text=True)
    assert checked.returncode == 1
    assert {Path(each).name for each in checked.stderr.split()} >= {
        "bf16_mixed.md",
        "removed_mixed.md",
    }


def test_the_recipe_for_a_gpu_is_found_on_one_screen() -> None:
    lines = (ROOT / "docs" / "which-recipe.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 45
    assert [line for line in lines if len(line) > 100] == []


def wrong(recipe: str, gpu: str, needs: dict[str, str]) -> set[str]:
    """Return the codes of what is wrong or unknown about the machine, with just what it needs."""
    facts = {NEEDS[name]: release for name, release in needs.items() if name in NEEDS}
    variables = {name: value for name, value in needs.items() if name not in NEEDS}
    found = check(recipe, Situation({"device": gpu, **facts}, environment=variables))
    bad = {each.code for each in found if each.severity in ("error", "unknown")}
    return {code for code in bad if rules()[code].about == "machine"}


@pytest.mark.parametrize("page", RECIPE_PAGES, ids=lambda page: page.stem)
def test_what_a_recipes_page_says_it_needs_is_enough_and_all_of_it_is_needed(page: Path) -> None:
    for gpu, text in ROW.findall(page.read_text(encoding="utf-8")):
        parts = [part.strip("`") for part in text.split(", ") if part != "-"]
        needs = dict(re.split(r"=| (?=[\d.]+$)", part, maxsplit=1) for part in parts)
        assert wrong(page.stem, gpu, needs) == set()
        for each in needs:
            fewer = {name: value for name, value in needs.items() if name != each}
            assert wrong(page.stem, gpu, fewer) != set()


def test_every_verb_is_on_a_page_and_every_verb_on_a_page_exists() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    verbs = "check|diff|doctor|explain|list|matrix|memory|plan|precision-file|show|te-recipe|try"
    named = set(re.findall(rf"\bmp ({verbs})\b", text))
    assert named == set(main.list_commands(None))  # type: ignore[arg-type] # no context is read
