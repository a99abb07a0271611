"""The repository's own shape: what has to be edited together stays together."""

from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))
SETTINGS_OF_THE_ROOT = re.compile(r"^\[+tool\.(ruff|mypy|pytest)", re.MULTILINE)


def _tox() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini", encoding="utf-8")
    return parser


def _environments() -> set[str]:
    lines = _tox()["tox"]["env_list"].replace(" ", "")
    groups = re.findall(r"([^{},\s]+)(?:\{([^}]*)\})?", lines)
    return {head + tail for head, tails in groups for tail in tails.split(",")}


def test_every_plugin_directory_has_its_environment():
    directories = {path.name for path in (ROOT / "plugins").glob("[!.]*") if path.is_dir()}

    assert {f"mp-{name}" for name in _environments() if name.startswith("plugin-")} == directories


def test_every_supported_megatron_has_its_environment():
    tried = {name.removeprefix("mcore-") for name in _environments() if name.startswith("mcore-")}
    installed = re.findall(r"megatron-core==(\S+)", _tox()["testenv"]["commands_pre"])

    assert tried == {"0.12.3", "0.13.1", "0.14.0", "0.15.3", "0.16.1", "0.19.2"}
    assert set(installed) == tried


def test_only_the_plugin_that_meets_every_megatron_is_named_twice():
    text = (ROOT / "tox.ini").read_text(encoding="utf-8")

    assert [path.name for path in PLUGINS if path.name in text] == ["mp-plugin-megatron"]


def test_the_matrix_stays_below_sixty_lines():
    assert len((ROOT / "tox.ini").read_text(encoding="utf-8").splitlines()) < 60


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)
def test_a_plugin_holds_its_readme_package_and_tests(plugin):
    package = plugin / "src" / plugin.name.replace("-", "_")

    assert (plugin / "README.md").is_file()
    assert (package / "__init__.py").is_file()
    assert (package / "py.typed").is_file()
    assert list((plugin / "tests").glob("test_*.py"))


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)
def test_a_plugin_has_no_lint_type_or_test_settings_of_its_own(plugin):
    text = (plugin / "pyproject.toml").read_text(encoding="utf-8")

    assert not SETTINGS_OF_THE_ROOT.search(text)
    assert not [*plugin.glob("tox.ini"), *plugin.glob("ruff.toml"), *plugin.glob("mypy.ini")]


def test_ci_runs_what_a_contributor_runs():
    script = ROOT / ".ci" / "run"

    assert script.read_text(encoding="utf-8").splitlines()[-1] == "exec make test"
    assert script.stat().st_mode & 0o111
