"""The installed wheel is what is tested, and it stands on its own."""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

import mp_core
import mp_plugin_mxfp8

NAME = "mp_plugin_mxfp8"
#: What the FP8 and FP4 plugins share is a library to them.
LIBRARY = "mp_plugin_transformer_engine"


@pytest.mark.skipif("TOX_ENV_NAME" not in os.environ, reason="only tox installs wheels")
def test_core_and_plugin_come_from_site_packages() -> None:
    for name, module in (("mp-core", mp_core), ("mp-plugin-mxfp8", mp_plugin_mxfp8)):
        home = Path(str(distribution(name).locate_file("")))
        assert home.name == "site-packages"
        assert home in Path(str(module.__file__)).parents


def test_its_modules_import_no_framework_and_no_other_plugin() -> None:
    modules = pkgutil.iter_modules(mp_plugin_mxfp8.__path__, f"{NAME}.")
    # -I keeps the working directory off the path, so that no source tree is imported.
    code = f"import sys, {', '.join(module.name for module in modules)}; print(*sys.modules)"
    command = [sys.executable, "-I", "-c", code]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    packages = {name.partition(".")[0] for name in printed.split()}
    assert not packages & {"megatron", "torch", "transformer_engine"}
    assert {name for name in packages if name.startswith("mp_plugin_")} == {NAME, LIBRARY}
