"""The installed wheel is what is tested, and listing it imports no framework."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

import mp_core
import mp_plugin_megatron


@pytest.mark.skipif("TOX_ENV_NAME" not in os.environ, reason="only tox installs wheels")
def test_core_and_plugin_come_from_site_packages() -> None:
    for name, module in (("mp-core", mp_core), ("mp-plugin-megatron", mp_plugin_megatron)):
        home = Path(str(distribution(name).locate_file("")))
        assert home.name == "site-packages"
        assert home in Path(str(module.__file__)).parents


def test_its_hooks_and_checks_import_no_framework_and_no_other_plugin() -> None:
    code = "import sys, mp_plugin_megatron.hooks, mp_plugin_megatron.checks; print(*sys.modules)"
    command = [sys.executable, "-I", "-c", code]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    packages = {name.partition(".")[0] for name in printed.split()}
    assert not packages & {"megatron", "torch", "transformer_engine"}
    assert {name for name in packages if name.startswith("mp_plugin_")} == {"mp_plugin_megatron"}
