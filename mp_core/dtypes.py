"""Dtypes by name, so that a config is plain data and needs no torch until one is read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from mp_core.errors import InvalidPrecision, TorchMissing, closest

if TYPE_CHECKING:
    import torch

#: Accepted spellings and the torch name each stands for.
NAMES = {
    "bfloat16": "bfloat16",
    "bf16": "bfloat16",
    "float16": "float16",
    "fp16": "float16",
    "half": "float16",
    "float32": "float32",
    "fp32": "float32",
    "float": "float32",
}


def dtype_name(value: torch.dtype | str | None) -> str | None:
    """Return the torch name of a dtype given as torch.dtype, name or None.

    Raises InvalidPrecision for anything that is not a 16- or 32-bit float dtype.
    """
    if value is None:
        return None
    name = str(value).removeprefix("torch.").lower()
    if name not in NAMES or not (isinstance(value, str) or type(value).__name__ == "dtype"):
        message = f"{value!r} is not a parameter dtype{closest(name, NAMES)} Legal: "
        raise InvalidPrecision(message + ", ".join(sorted(set(NAMES.values()))))
    return NAMES[name]


def torch_dtype(name: str | None) -> torch.dtype | None:
    """Return the torch.dtype of *name*; raise TorchMissing where torch is not installed."""
    if name is None:
        return None
    try:
        import torch
    except ImportError as error:
        message = f"reading {name!r} as a torch.dtype needs torch: pip install 'mp-core[torch]'"
        raise TorchMissing(message) from error
    return getattr(torch, name)  # type: ignore[no-any-return] # a module attribute is untyped


class DtypeField:
    """A config field that holds a dtype's name and reads as torch.dtype."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> None: ...
    @overload
    def __get__(self, instance: object, owner: type) -> torch.dtype | None: ...
    def __get__(self, instance: Any, owner: type) -> torch.dtype | None:
        return None if instance is None else torch_dtype(instance.__dict__[self.name])

    def __set__(self, instance: object, value: torch.dtype | str | None) -> None:
        instance.__dict__[self.name] = dtype_name(value)
