"""What the benchmarks list is what mp_core lists: real distributions, each with one recipe."""

from __future__ import annotations

import importlib.util
from importlib.metadata import distributions
from pathlib import Path

from mp_core import discovery
from mp_core.recipes import recipe_book

GENERATOR = Path(__file__).resolve().parents[1] / "benchmarks" / "installed.py"


def _write(folder: Path, plugins: int, others: int) -> None:
    spec = importlib.util.spec_from_file_location("installed", GENERATOR)
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    generator.write(folder, plugins, others)


def test_every_generated_plugin_is_listed_with_its_distribution_and_version(site, again):
    _write(site.folder, plugins=3, others=2)
    again()

    listed = {name: (found.distribution, found.version) for name, found in _generated().items()}

    assert listed == {
        f"bench_plugin_00{n}_mixed": (f"bench-plugin-00{n}", "1.16.0") for n in range(3)
    }
    assert not discovery.find().problems


def test_generated_distributions_are_as_complete_as_installed_ones(site):
    _write(site.folder, plugins=1, others=2)

    found = {each.name: each for each in distributions(path=[str(site.folder)])}

    assert sorted(found) == ["bench-plugin-000", "unrelated-000", "unrelated-001"]
    assert len(found["bench-plugin-000"].read_text("METADATA")) > 3000
    assert all(each.files for each in found.values())


def test_a_generated_recipe_can_be_imported(site, again):
    _write(site.folder, plugins=1, others=0)
    again()

    points = [e for e in discovery.find().entries if e.distribution == "bench-plugin-000"]

    assert [entry.group for entry in points] == ["mp_core.plugins", "mp_core.recipes"]
    assert importlib.import_module("bench_plugin_000").recipe() is None


def _generated() -> dict:
    return {name: each for name, each in recipe_book().items() if name.startswith("bench_")}
