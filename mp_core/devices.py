"""Devices by vendor and architecture, and the product names that people use for them."""

from __future__ import annotations

import re

from mp_core.errors import InvalidPrecision, closest

#: Architecture by product: one line a GPU. NVIDIA's are the compute capabilities of
#: developer.nvidia.com/cuda-gpus, AMD's the LLVM targets of ROCm's accelerator specifications.
PRODUCTS = {
    "a10": "cuda:sm86",
    "a100": "cuda:sm80",
    "a40": "cuda:sm86",
    "a800": "cuda:sm80",
    "b200": "cuda:sm100",
    "b300": "cuda:sm103",
    "gaudi2": "gaudi:gaudi2",
    "gaudi3": "gaudi:gaudi3",
    "gb10": "cuda:sm121",
    "gb200": "cuda:sm100",
    "gb300": "cuda:sm103",
    "gh200": "cuda:sm90",
    "h100": "cuda:sm90",
    "h20": "cuda:sm90",
    "h200": "cuda:sm90",
    "h800": "cuda:sm90",
    "l4": "cuda:sm89",
    "l40": "cuda:sm89",
    "l40s": "cuda:sm89",
    "mi300a": "rocm:gfx942",
    "mi300x": "rocm:gfx942",
    "mi325x": "rocm:gfx942",
    "mi350x": "rocm:gfx950",
    "mi355x": "rocm:gfx950",
    "rtx-pro-6000": "cuda:sm120",
    "rtx3090": "cuda:sm86",
    "rtx4090": "cuda:sm89",
    "rtx5080": "cuda:sm120",
    "rtx5090": "cuda:sm120",
}
KEY = re.compile(r"[a-z0-9]+:[a-z0-9._-]+")
CUDA = re.compile(r"cuda:sm(\d+)[af]?")


def products() -> dict[str, str]:
    """Return every product name that is known here, with its ``vendor:architecture``, sorted."""
    return dict(sorted({**PRODUCTS, **offered()}.items()))


def offered() -> dict[str, str]:
    """Return the products that plugins bring, with their keys, sorted."""
    from mp_core.plugins import hooks

    found = {name: key for names in hooks().mp_devices() for name, key in names.items()}
    return dict(sorted(found.items()))


def device_key(text: str) -> str:
    """Return ``vendor:architecture`` of a product name such as ``h100``, or of itself.

    Raises InvalidPrecision for a name that nothing here knows.
    """
    name = text.strip().lower()
    plain = re.sub(r"[\s_-]+", "", name)
    if re.fullmatch(r"cuda:sm_?\d+[af]?", name):
        return name.replace("_", "")
    if KEY.fullmatch(name):
        return name
    known = products()
    found = {product.replace("-", ""): key for product, key in known.items()}.get(plain)
    if found is None:
        hint = "a product such as h100 or mi355x, or a key such as cuda:sm90 or rocm:gfx942"
        raise InvalidPrecision(f"no GPU {text!r}{closest(name, known) or '.'} Known: {hint}")
    return found


def matches(pattern: str, key: str) -> bool:
    """Return whether device *key* is of *pattern*.

    pattern: a key, ``vendor:*``, or a range of compute capabilities without the dot such as
    ``cuda:sm100..sm119``, either end of which may be left out.
    """
    vendor, _, architecture = pattern.partition(":")
    if ".." not in architecture:
        return (architecture == "*" and key.partition(":")[0] == vendor) or pattern == _plain(key)
    first, _, last = architecture.replace("sm", "").partition("..")
    found = CUDA.fullmatch(key)
    return bool(found and int(first or 0) <= int(found[1]) <= int(last or 10**9))


def _plain(key: str) -> str:
    """Return an NVIDIA key without the suffix of its architecture-specific features."""
    found = CUDA.fullmatch(key)
    return f"cuda:sm{found[1]}" if found else key
