"""The examples of docs/discovery.md print what the page says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mp_core.discovery import find

PAGE = Path(__file__).parents[1] / "docs" / "discovery.md"
EXAMPLE = re.compile(r"```console\n\$ (.*?)\n(.*?)```", re.DOTALL)
EXAMPLES = EXAMPLE.findall(PAGE.read_text(encoding="utf-8")) if PAGE.is_file() else []


@pytest.mark.skipif(bool(find().entries), reason="the page shows a place without other plugins")
@pytest.mark.parametrize(("typed", "printed"), EXAMPLES, ids=[typed for typed, _ in EXAMPLES])
def test_the_page_shows_what_is_printed(site: Any, typed: str, printed: str) -> None:
    for name, version in (("acme-recipes", "1.5"), ("other-recipes", "2.0")):
        site.recipe(name, "tuned_mixed", version=version, target=f"{name[:-8]}_recipes:tuned_mixed")
    site.recipe(
        "broken-recipes",
        "odd_mixed",
        "import a_missing_module",
        version="0.3",
        target="broken_recipes:odd_mixed",
    )
    before, arguments = re.split(r"\bmp ", typed, maxsplit=1)
    variables = dict(each.split("=", 1) for each in before.split())
    result = site.python("-m", "mp_core", *arguments.split(), COLUMNS="80", **variables)
    shown = [line.rstrip() for line in (result.stdout + result.stderr).splitlines()]
    assert shown == printed.splitlines()


@pytest.mark.skipif(not PAGE.is_file(), reason="the page is not beside the tests")
def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) >= 4
