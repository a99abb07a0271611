"""Distributions and plugin modules written to a directory of the path, as text."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import mp_core
from mp_core import discovery, machine, plugins, recipes

VARIABLES = (*discovery.VARIABLES, "MP_PREFER")
#: A module of one plain recipe.
ACME = """
from mp_core import MixedPrecisionConfig
def acme_mixed():
    return MixedPrecisionConfig(bf16=True, params_dtype="bfloat16", fp8_margin=3)
"""


def forget() -> None:
    """Forget what was found, as a new process would."""
    importlib.invalidate_caches()
    vars(mp_core).pop("MIXED_PRECISION_RECIPES", None)
    kept = (discovery._find, recipes.recipe_book, plugins.manager, plugins._vocabulary)
    for cached in (*kept, machine._offered):
        cached.cache_clear()


class Site:
    """A directory on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def write(self, name: str, text: str | bytes) -> Path:
        """Write one file, and the directories above it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        forget()
        return path

    def distribution(self, name: str, version: str = "1.0", **groups: Mapping[str, str]) -> Path:
        """Write a dist-info; a group's name goes without its ``mp_core.``."""
        lines = []
        for group, points in groups.items():
            lines += [f"[mp_core.{group}]", *(f"{key} = {value}" for key, value in points.items())]
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        self.write(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        return self.write(f"{info}/entry_points.txt", "\n".join(lines) + "\n").parent

    def recipe(self, distribution: str, name: str, source: str = ACME, **more: str) -> None:
        """Write a distribution of one recipe, ``name = module:acme_mixed``, and its module."""
        module = distribution.replace("-", "_")
        target = more.get("target", f"{module}:acme_mixed")
        self.distribution(distribution, more.get("version", "1.0"), recipes={name: target})
        self.write(f"{module}.py", source)

    def plugin(self, distribution: str, source: str) -> None:
        """Write a distribution of one module of hooks."""
        module = distribution.replace("-", "_")
        self.distribution(distribution, plugins={"hooks": module})
        self.write(f"{module}.py", "from mp_core import *\nfrom mp_core import hookimpl\n" + source)

    def python(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run this interpreter in an empty directory with this directory on its path."""
        kept = {key: value for key, value in os.environ.items() if key not in VARIABLES}
        elsewhere = self.folder.parent / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        return subprocess.run(
            [sys.executable, *arguments],
            env={**kept, "PYTHONPATH": str(self.folder), **environment},
            cwd=elsewhere,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A directory first on the path, with no variable of mp_core set; forgotten afterwards."""
    made = Site(tmp_path / "site")
    monkeypatch.setattr(sys, "path", [str(made.folder), *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    before = set(sys.modules)
    forget()
    yield made
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    forget()


@pytest.fixture
def again() -> object:
    """What forgets everything found, for a test that changes the environment half-way."""
    return forget
