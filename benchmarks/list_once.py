"""List the plugins of one directory once, in this new process: ``list_once.py WAY DIRECTORY``.

Prints the seconds of the listing and the number of plugins found. What a way imports of its own
is imported before; what it imports of the plugins is part of its listing.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

RECIPES = "mp_core.recipes"
PLUGINS = "mp_core.plugins"

Listing = Callable[[], int]


def mp_core() -> Listing:
    """Return mp_core's own: names, distributions and versions of all recipes."""
    from mp_core.recipes import Recipe, recipe_book

    def listing() -> int:
        found = [each for each in recipe_book().values() if isinstance(each, Recipe)]
        return len({(each.name, each.distribution, each.version) for each in found})

    return listing


def pluggy_loader() -> Listing:
    """Return pluggy's loader, which imports and registers each plugin's module."""
    import pluggy

    return lambda: pluggy.PluginManager("mp_core").load_setuptools_entrypoints(PLUGINS)


def pluggy_imported() -> Listing:
    """Return pluggy's loader where the plugins' modules were imported before."""
    for path in Path(sys.path[0]).glob("bench_plugin_*.py"):
        importlib.import_module(path.stem)
    return pluggy_loader()


def stevedore_uncached() -> Listing:
    """Return stevedore's ExtensionManager, which imports each plugin's module."""
    from stevedore import ExtensionManager

    return lambda: len(ExtensionManager(RECIPES, invoke_on_load=False).extensions)


def stevedore_cached() -> Listing:
    """Return the same with stevedore's cache on disk, filled by an earlier process."""
    from stevedore import _cache

    # stevedore never writes the cache for an interpreter below /tmp, where a trial may stand.
    _cache._c._disable_caching = False  # noqa: SLF001 # it has no public switch
    return stevedore_uncached()


def stdlib_names() -> Listing:
    """Return the standard library's: names and targets alone."""
    return lambda: len({point.name for point in importlib.metadata.entry_points(group=RECIPES)})


def stdlib_versions() -> Listing:
    """Return the standard library's with what mp_core lists: distributions and versions too."""

    def listing() -> int:
        points = importlib.metadata.entry_points(group=RECIPES)
        return len({(p.name, p.dist.name, p.dist.version) for p in points if p.dist})

    return listing


def own_scan() -> Listing:
    """Return a scan without importlib-metadata: dist-info directories only, no odd layout."""
    return lambda: sum(1 for path in sys.path for _ in _scan(path))


def _scan(folder: str) -> list[tuple[str, str, str]]:
    try:
        with os.scandir(folder) as found:
            infos = [each.path for each in found if each.name.endswith(".dist-info")]
    except (FileNotFoundError, NotADirectoryError):
        return []
    rows = []
    for info in infos:
        points = _text(f"{info}/entry_points.txt")
        if "[mp_core." in points:
            rows += _rows(points, _text(f"{info}/METADATA").partition("\n\n")[0])
    return rows


def _rows(points: str, head: str) -> list[tuple[str, str, str]]:
    headers = dict(line.partition(": ")[::2] for line in head.splitlines())
    section = points.partition(f"[{RECIPES}]\n")[2].partition("\n[")[0]
    names = [line.partition("=")[0].strip() for line in section.splitlines() if "=" in line]
    return [(name, headers["Name"], headers["Version"]) for name in names]


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123 # Path objects would be timed
            return file.read()
    except FileNotFoundError:
        return ""


WAYS = {
    "mp_core": mp_core,
    "pluggy": pluggy_loader,
    "pluggy, imported": pluggy_imported,
    "stevedore": stevedore_uncached,
    "stevedore, cached": stevedore_cached,
    "stdlib, names": stdlib_names,
    "stdlib, versions": stdlib_versions,
    "own scan": own_scan,
}


def main(way: str, folder: str) -> None:
    """Print the seconds and the plugins found by *way* in *folder*."""
    whole = sys.path[:]
    sys.path.insert(0, folder)
    listing = WAYS[way]()
    # What else is installed here must not decide the figures.
    kept = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib")}
    sys.path[:] = [folder, *(path for path in whole if path in kept or "lib-dynload" in path)]
    start = time.perf_counter()
    found = listing()
    print(time.perf_counter() - start, found)


if __name__ == "__main__":
    main(*sys.argv[1:])
