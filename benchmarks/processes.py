"""Time new processes, each way once in a round, so that no way has the better moment."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

Way = Sequence[str]


def python(*arguments: str, **environment: str) -> str:
    """Return what a new interpreter prints; mp_core's own variables do not reach it."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("MP_")}
    command = [sys.executable, "-I", *arguments]
    env = {**kept, "OMP_NUM_THREADS": "1", **environment}
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def walls(ways: Mapping[str, Way], rounds: int) -> dict[str, list[float]]:
    """Return the wall times in seconds of each way's whole process, one for each round."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        for name in turned(list(ways), number):
            start = time.perf_counter()
            python(*ways[name])
            taken[name].append(time.perf_counter() - start)
    return taken


def median(values: Sequence[float]) -> float:
    """Return the median of *values* without the first, which read the files into memory."""
    return statistics.median(values[1:])


def ratio(values: Sequence[float], base: Sequence[float]) -> float:
    """Return the median over the rounds of *values* by *base*.

    Both of a round ran within a second: a machine whose speed changes changes neither's share.
    """
    return median([value / other for value, other in zip(values, base, strict=True)])


def turned(names: list[str], number: int) -> list[str]:
    """Return *names* in the order of round *number*: each is first, and last, as often."""
    place = number % len(names)
    return names[place:] + names[:place]
