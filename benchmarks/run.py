"""Measure mp-core beside what it is compared with, print the tables, keep them in the docs."""

from __future__ import annotations

import json
import platform
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import installed
from processes import median, python, ratio, turned, walls

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
RESULTS = re.compile(r"(?<=<!-- results -->\n).*(?=<!-- end of results -->)", re.DOTALL)

SIZES = (50, 150, 500)
LIST_ROUNDS = 24
START_ROUNDS = 12
#: Each goal in its own unit: a ratio, a ratio, seconds over the loop, seconds, seconds.
LISTING, IMPORT, GET, SETUP, ANSWER = 0.7, 0.02, 20e-6, 1e-3, 0.5

#: Every way to list, by its name in list_once.py, as a reader knows it.
WAYS = {
    "mp_core": "mp_core: names, distributions, versions",
    "pluggy": "pluggy `load_setuptools_entrypoints`",
    "pluggy, imported": "pluggy, the plugins' modules imported before",
    "stevedore": "stevedore `ExtensionManager`, no cache",
    "stevedore, cached": "stevedore `ExtensionManager`, its disk cache filled",
    "stdlib, names": "stdlib `entry_points(group=)`: names alone",
    "stdlib, versions": "stdlib `entry_points(group=)`: names, distributions, versions",
    "own scan": "a scan of our own (prototype, no odd layout)",
}
STATEMENTS = {
    "import mp_core": "import mp_core",
    "import mp_core, fill `MIXED_PRECISION_RECIPES`": (
        "from mp_core import MIXED_PRECISION_RECIPES, get_mixed_precision_config"
    ),
}
#: What answers while a person waits, by the name under which its goal is told.
ANSWERS = {
    "check": "mp check bf16_with_mxfp8_mixed --gpu b200 --cuda 13.0 --te 2.16 --mcore 0.18.2",
    "matrix": "mp matrix",
}
PROBE = """
import time
start = time.perf_counter()
{statement}
middle = time.perf_counter()
import torch
print(middle - start, time.perf_counter() - middle)
"""


#: Seconds by what was measured, one for each round.
Times = Mapping[str, Sequence[float]]


class Table(NamedTuple):
    """A titled table; the cells of *rows* are text, the first column is left-aligned."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def __str__(self) -> str:
        rule = ("---", *("---:" for _ in self.header[1:]))
        lines = (f"| {' | '.join(row)} |" for row in (self.header, rule, *self.rows))
        return "\n".join([f"### {self.title}", "", *lines])


def listing(taken: Mapping[int, Times]) -> Table:
    """Return how long each way lists, as ratios to pluggy's loader and in milliseconds."""
    ratios = {w: [ratio(taken[s][w], taken[s]["pluggy"]) for s in SIZES] for w in WAYS}
    rows = [
        (
            label,
            *(f"{each:.2f}" for each in ratios[way]),
            *(_ms(taken[size][way]) for size in SIZES),
        )
        for way, label in WAYS.items()
    ]
    verdict = _verdict("mp_core lists in", "x pluggy", max(ratios["mp_core"]), LISTING)
    sizes = [str(size) for size in SIZES]
    header = ("way to list", *(f"x pluggy, {s}" for s in sizes), *(f"ms, {s}" for s in sizes))
    return Table(f"Listing, {', '.join(sizes)} plugins: {verdict}", header, rows)


def listed(size: int) -> Times:
    """Return the seconds of each way to list *size* plugins."""
    taken: dict[str, list[float]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        installed.write(Path(folder, "site"), size)
        for number in range(LIST_ROUNDS):
            for way in turned(list(WAYS), number):
                taken[way].append(_once(way, Path(folder), size))
    return taken


def _once(way: str, folder: Path, size: int) -> float:
    # stevedore reads a cache wherever it finds one: each of its two ways has its own place.
    cache = folder / way.replace(", ", "-")
    cache.mkdir(exist_ok=True)
    if way == "stevedore":
        (cache / ".disable").touch()
    arguments = (str(HERE / "list_once.py"), way, str(folder / "site"))
    seconds, found = python(*arguments, XDG_CACHE_HOME=str(cache)).split()
    if int(found) != size:
        raise ValueError(f"{way} found {found} of {size} plugins")
    return float(seconds)


def imported() -> dict[str, tuple[list[float], list[float]]]:
    """Return the seconds of each statement, and those of importing torch after it."""
    taken: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in STATEMENTS}
    for number in range(START_ROUNDS):
        for name in turned(list(STATEMENTS), number):
            printed = python("-c", PROBE.format(statement=STATEMENTS[name])).split()
            for times, seconds in zip(taken[name], printed, strict=True):
                times.append(float(seconds))
    return taken


def importing(taken: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> Table:
    """Return how long importing mp_core takes beside importing torch in the same process."""
    share = {name: 100 * ratio(own, torch) for name, (own, torch) in taken.items()}
    rows = [(name, f"{share[name]:.2f} %", _ms(own)) for name, (own, _) in taken.items()]
    rows.append(("import torch", "100 %", _ms(taken["import mp_core"][1])))
    own = share["import mp_core"]
    verdict = _verdict("import mp_core takes", "% of import torch", own, 100 * IMPORT)
    return Table(f"Import: {verdict}", ("statement", "of torch", "ms"), rows)


def saving(lists: Mapping[int, Times], torch: Sequence[float]) -> str:
    """Return what a scan of our own would save in a process that imports torch."""
    saved = [median(lists[size]["mp_core"]) - median(lists[size]["own scan"]) for size in SIZES]
    times = ", ".join(f"{seconds * 1e3:.1f}" for seconds in saved)
    shares = ", ".join(f"{100 * seconds / median(torch):.1f}" for seconds in saved)
    return f"The prototype scan would save {times} ms: {shares} % of importing torch."


def starting() -> Table:
    """Return how long the command line takes beside a process that imports torch."""
    torch = 'python -c "import torch"'
    ways = {
        typed: ("-m", "mp_core", *typed.split()[1:]) for typed in ("mp list", *ANSWERS.values())
    }
    taken = walls({**ways, torch: ("-c", "import torch")}, START_ROUNDS)
    rows = [
        (f"`{name}`", f"{ratio(taken[name], taken[torch]):.2f}", _ms(taken[name])) for name in taken
    ]
    told = (_verdict(f"{k} takes", "s", median(taken[v]), ANSWER) for k, v in ANSWERS.items())
    title = f"Command line, whole processes: {'; '.join(told)}"
    return Table(title, ("command", "x torch", "ms"), rows)


def calling() -> Table:
    """Return how long get and setup take beside a plain dataclass and its copy loop."""
    taken: Times = json.loads(python(str(HERE / "calls.py")))
    micro = {name: 1e6 * median(times) for name, times in taken.items()}
    labels = {
        "get": '`get_mixed_precision_config("bf16_with_mxfp8_mixed")`',
        "setup": "`config.setup(model, optimizer, ddp)`",
        "plain get": "plain dataclass: the factory",
        "copy loop": "plain dataclass: the copy loop, three configs",
    }
    rows = [
        (label, f"{ratio(taken[name], taken['copy loop']):.2f}", f"{micro[name]:.1f}")
        for name, label in labels.items()
    ]
    get = _verdict("get takes", "µs", micro["get"], micro["copy loop"] + 1e6 * GET)
    setup = _verdict("setup takes", "µs", micro["setup"], 1e6 * SETUP)
    return Table(f"Calls: {get}; {setup}", ("call", "x loop", "µs"), rows)


def _verdict(what: str, unit: str, value: float, goal: float) -> str:
    return f"{what} {value:.4g} {unit} (goal {goal:.4g}: {'met' if value <= goal else 'missed'})"


def _ms(times: Sequence[float]) -> str:
    return f"{median(times) * 1e3:.2f}"


def versions() -> str:
    """Return the versions of what was measured."""
    names = ("importlib-metadata", "megatron-core", "pluggy", "stevedore", "torch")
    found = ", ".join(f"{name} {version(name)}" for name in names)
    return f"Python {platform.python_version()}, {found}; medians of one run."


def write(parts: Iterable[object]) -> str:
    """Put *parts* between the page's markers and return them as text."""
    text = "\n\n".join(map(str, parts)) + "\n"
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(RESULTS.sub(lambda _: text, page), encoding="utf-8")
    return text


def main() -> None:
    """Measure, print, and write the page."""
    lists = {size: listed(size) for size in SIZES}
    imports = imported()
    scan = saving(lists, imports["import mp_core"][1])
    tables = [importing(imports), calling(), starting()]
    print(write([versions(), listing(lists), scan, *tables]))


if __name__ == "__main__":
    main()
