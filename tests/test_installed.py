"""What is tested is what was installed, never the source tree beside it."""

from __future__ import annotations

import importlib
import os
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

OURS = sorted(
    (dist for dist in distributions() if (dist.name or "").startswith("mp-")),
    key=lambda dist: dist.name,
)


@pytest.mark.skipif("TOX_ENV_NAME" not in os.environ, reason="only tox installs wheels")
@pytest.mark.parametrize("dist", OURS, ids=[dist.name for dist in OURS])
def test_every_distribution_of_ours_is_imported_from_site_packages(dist: Distribution) -> None:
    module = importlib.import_module(dist.name.replace("-", "_"))
    home = Path(str(dist.locate_file("")))
    assert home.name == "site-packages"
    assert home in Path(str(module.__file__)).parents
