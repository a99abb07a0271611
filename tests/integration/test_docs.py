"""The examples of README.md and docs/ do what the pages say."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mp_core.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
#: discovery.md shows another place, with plugins of its own: tests/test_discovery_page.py.
RUN = [page for page in PAGES if page.name != "discovery.md"]
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


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_link_of_a_page_leads_to_a_file(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_page_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES[1:] if f"docs/{page.name}" not in readme] == []


def test_the_page_of_recipes_is_what_the_recipes_say() -> None:
    command = [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


def test_every_verb_is_on_a_page_and_every_verb_on_a_page_exists() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    verbs = "check|diff|doctor|explain|list|matrix|memory|plan|show|te-recipe|try"
    named = set(re.findall(rf"\bmp ({verbs})\b", text))
    assert named == set(main.list_commands(None))  # type: ignore[arg-type] # no context is read
