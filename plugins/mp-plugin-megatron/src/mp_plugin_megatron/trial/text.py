"""Real text to train on, which every machine with Python has: its standard library's source."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path

import torch

from mp_plugin_megatron.trial.options import BATCH, SEQUENCE

#: Enough that no run of minutes sees a byte twice as often as another.
ENOUGH_BYTES = 2_000_000


def read_text() -> torch.Tensor:
    """Return bytes of the standard library's modules in order of their names, as int64."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    data = b"".join(file.read_bytes() for file in files)[:ENOUGH_BYTES]
    return torch.frombuffer(bytearray(data), dtype=torch.uint8).long()


def batches(seed: int, rank: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield inputs and next-byte labels of shape (batch, sequence), other ones for each rank."""
    text = read_text()
    generator = torch.Generator().manual_seed(seed + rank)
    offsets = torch.arange(SEQUENCE + 1)
    while True:
        starts = torch.randint(len(text) - SEQUENCE - 1, (BATCH, 1), generator=generator)
        rows = text[starts + offsets]
        yield rows[:, :-1].contiguous(), rows[:, 1:].contiguous()
