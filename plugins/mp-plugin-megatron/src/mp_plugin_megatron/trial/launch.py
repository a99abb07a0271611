"""Start the ranks through torchrun, read their events, and leave no process behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from typing import Any

from mp_core import MixedPrecisionError
from mp_plugin_megatron.trial.options import Options
from mp_plugin_megatron.trial.worker import MARK

#: How long torchrun may take to end its ranks, which it kills itself after 30 seconds.
PATIENCE_S = 40
LAST_LINES = 15


class TrialFailed(MixedPrecisionError, RuntimeError):
    """A rank ended without a result."""


def events(options: Options) -> Iterator[dict[str, Any]]:
    """Yield the events of a run, the last with its ``result``; raise TrialFailed without one."""
    process = subprocess.Popen(  # noqa: S603 # this interpreter, with arguments made here
        _command(options),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # Its own session: a Ctrl-C reaches this process alone, which then ends the others.
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
    )
    try:
        yield from _read(process)
    finally:
        _end(process)


def _command(options: Options) -> list[str]:
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    worker = ["-m", "mp_plugin_megatron.trial.worker", options.dump()]
    return [*torchrun, "--nproc-per-node", str(options.ranks), *worker]


def _read(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    last: deque[str] = deque(maxlen=LAST_LINES)
    errors: list[str] = []
    done = False
    for line in process.stdout or ():
        _, mark, event = line.partition(MARK)
        if not mark:
            last.append(line.rstrip())
            continue
        read = json.loads(event)
        errors += [read["error"]] if "error" in read else []
        done = done or "result" in read
        yield read
    if not done:
        raise TrialFailed("the run failed: " + (errors[0] if errors else "\n".join(last)))


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdout:
        process.stdout.close()
