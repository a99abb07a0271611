"""One rank of a trial: trains, and tells the command what happens in lines of JSON."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import sys
import threading
import time
import warnings
from typing import Any

from mp_plugin_megatron.trial.options import Options

#: Marks the lines that are meant for the command among whatever libraries print.
MARK = "mp-trial:"


def emit(event: dict[str, Any]) -> None:
    """Write one event for the command, from the first rank only."""
    if os.environ.get("RANK", "0") == "0":
        print(MARK + json.dumps(event), flush=True)  # noqa: T201 # the channel to the command


def main() -> None:
    """Train as the options on the command line say; report a failure as an event."""
    _end_with_parent()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    try:
        _run(Options.load(sys.argv[1]))
    except Exception as error:
        # The rank that fails first knows why; the others only see that it is gone.
        print(MARK + json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)  # noqa: T201 # as emit
        raise


def _end_with_parent() -> None:
    """End this rank when its launcher is gone, which could not tell it."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _run(options: Options) -> None:
    import torch
    from torch import distributed

    from mp_core import get_mixed_precision_config
    from mp_plugin_megatron.trial.cpu import cuda_on_cpu

    config = get_mixed_precision_config(options.recipe)
    gpu = torch.cuda.is_available()
    if gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.set_num_threads(1)
    distributed.init_process_group("nccl" if gpu else "gloo")
    try:
        with contextlib.nullcontext() if gpu else cuda_on_cpu():
            from mp_plugin_megatron.trial.training import train

            emit({"result": train(options, config, emit)})
    finally:
        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
