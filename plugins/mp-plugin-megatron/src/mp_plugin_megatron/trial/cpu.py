"""A stand-in for torch.cuda on a machine without a GPU, for ``mp try`` and the tests only.

Megatron-Core asks torch.cuda for its current device, streams and random state, allocates with
``device="cuda"``, and tells half-precision parameters by the string ``Tensor.type()`` gives.
Inside ``cuda_on_cpu()`` all of this lands on the CPU; every tensor, gradient and optimizer step is
torch's own. No file of Megatron-Core is touched, and on leaving everything is as it was. It is off
unless entered, and refuses to be entered where CUDA exists.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode

CPU = torch.device("cpu")


class NoStream:
    """A stream on which everything has already happened."""

    def wait_stream(self, _stream: object) -> None:
        """Return at once."""

    def wait_event(self, _event: object) -> None:
        """Return at once."""

    def record_event(self, _event: object = None) -> None:
        """Return at once."""

    def synchronize(self) -> None:
        """Return at once."""


#: The functions of torch.cuda that Megatron-Core calls while it builds and trains a model.
STAND_INS: dict[str, Callable[..., Any]] = {
    # Buffers, the gradient norm and the loss scale are allocated on the current device.
    "current_device": lambda: CPU,
    # Gradient reduction and parameter gathers are ordered by streams.
    "Stream": lambda *_, **__: NoStream(),
    "current_stream": lambda *_, **__: NoStream(),
    "stream": lambda _: contextlib.nullcontext(),
    "synchronize": lambda *_, **__: None,
    "empty_cache": lambda: None,
    # Seeds and saved random states of the ranks.
    "manual_seed": torch.manual_seed,
    "get_rng_state": lambda *_, **__: torch.get_rng_state(),
    "set_rng_state": lambda state, *_, **__: torch.set_rng_state(state),
}


class OnCpu(TorchFunctionMode):
    """Sends what is meant for a CUDA device to the CPU."""

    def __torch_function__(
        self, func: Any, _types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Call *func* with CUDA devices replaced, which is all that this mode does."""
        kwargs = dict(kwargs or {})
        if _is_cuda(kwargs.get("device")):
            kwargs["device"] = CPU
        if func is torch.Tensor.cuda:
            return args[0]
        if func is torch.Tensor.to:
            args = tuple(CPU if _is_cuda(each) else each for each in args)
        if func is torch.Tensor.type and len(args) == 1 and not kwargs:
            # The optimizers compare with "torch.cuda.HalfTensor" and "torch.cuda.BFloat16Tensor".
            return str(func(*args)).replace("torch.", "torch.cuda.", 1)
        return func(*args, **kwargs)


def _is_cuda(device: Any) -> bool:
    if isinstance(device, torch.device):
        return device.type == "cuda"
    return isinstance(device, str) and device.startswith("cuda")


@contextlib.contextmanager
def cuda_on_cpu() -> Iterator[None]:
    """Let what is meant for CUDA run on the CPU; raise RuntimeError where CUDA exists."""
    if torch.cuda.is_available():
        raise RuntimeError("CUDA is available: the CPU stand-in for it is refused")
    with contextlib.ExitStack() as stack:
        for name, stand_in in STAND_INS.items():
            stack.enter_context(mock.patch.object(torch.cuda, name, stand_in))
        stack.enter_context(OnCpu())
        yield
