"""Facts about this machine, from metadata and the driver's tool; no framework is imported."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from packaging.version import InvalidVersion, Version

from mp_core.situation import Fact, Situation

ORIGIN = "detected"
#: How long nvidia-smi may take: it waits for a driver that hangs.
SECONDS = 10
#: The distributions of each framework, and the top-level module that they bring.
FRAMEWORKS = {
    "megatron_core": ("megatron-core", "megatron"),
    "torch": ("torch", "torch"),
    "transformer_engine": ("transformer-engine", "transformer_engine"),
}
#: The distributions of each library, by CUDA's major version; from 13 on cuBLAS has no suffix.
LIBRARIES: dict[str, dict[str, tuple[str, ...]]] = {
    "cublas": {"12": ("nvidia-cublas-cu12",), "13": ("nvidia-cublas", "nvidia-cublas-cu13")},
    "cudnn": {"12": ("nvidia-cudnn-cu12",), "13": ("nvidia-cudnn-cu13",)},
}


def detected() -> dict[str, Fact]:
    """Return this machine's facts, sorted by name, each with the origin ``detected``.

    A fact that cannot be read is absent; a framework that is not installed is None. Read once,
    but for the device, which a torch that has been initialised since knows better.
    """
    device = _torch_device() or _driver_device()
    found = {**_offered(), **_versions(), **({"device": Fact(device, ORIGIN)} if device else {})}
    return dict(sorted(found.items()))


@cache
def _offered() -> dict[str, Fact]:
    """Return what vendors' plugins detect."""
    from mp_core.plugins import hooks

    answers = hooks().mp_detect()
    return {name: Fact(text, ORIGIN) for facts in answers for name, text in facts.items()}


def here(
    facts: Mapping[str, Fact] | None = None,
    given: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Situation:
    """Return the situation of this process, where *facts* and what is *given* win."""
    variables = os.environ if environment is None else environment
    return Situation(given, environment=variables, facts={**detected(), **(facts or {})})


def installed_version(distribution: str) -> str | None:
    """Return the version in a distribution's metadata, None where it is not installed."""
    try:
        # None where the metadata has lost its version, whatever the annotation says.
        return importlib.metadata.version(distribution) or ""
    except importlib.metadata.PackageNotFoundError:
        return None
    except Exception:  # noqa: BLE001 # unreadable metadata is a version that cannot be read
        return ""


@cache
def _versions() -> dict[str, Fact]:
    found: dict[str, str | None] = {"cuda": _torch_cuda()}
    major = (found["cuda"] or "").partition(".")[0]
    for name, by_major in LIBRARIES.items():
        chosen = by_major.get(major) or tuple(d for each in by_major.values() for d in each)
        found[name] = _only(installed_version(distribution) for distribution in chosen)
    facts = {name: Fact(text, ORIGIN) for name, text in found.items() if text and _readable(text)}
    for name, (distribution, module) in FRAMEWORKS.items():
        text = installed_version(distribution)
        # A source tree on the path has no metadata: its version is unknown, not missing.
        if text is None and _spec_places(module) is None:
            facts[name] = Fact(None, ORIGIN)
        elif text and _readable(text):
            facts[name] = Fact(text, ORIGIN)
    return facts


def _only(values: Iterable[str | None]) -> str | None:
    """Return the one value that is there; None of two, of which either may be loaded."""
    found = {value for value in values if value}
    return found.pop() if len(found) == 1 else None


def _readable(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True


def _spec_places(module: str) -> list[str] | None:
    """Return where a top-level module is, without importing it; None where it is not."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    return list(spec.submodule_search_locations or ())


def _torch_cuda() -> str | None:
    """Return the CUDA that torch was built with, as its version.py says."""
    for place in _spec_places("torch") or ():
        try:
            text = (Path(place) / "version.py").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        found = re.search(r"^cuda\b[^=\n]*=\s*['\"]([\d.]+)['\"]", text, re.MULTILINE)
        if found:
            return found[1]
    return None


def _torch_device() -> str | None:
    """Return the device of a torch that this process has initialised already."""
    torch = sys.modules.get("torch")
    try:
        if torch is None or not torch.cuda.is_initialized():
            return None
        if torch.version.hip:
            name = torch.cuda.get_device_properties(torch.cuda.current_device()).gcnArchName
            return "rocm:" + str(name).partition(":")[0]
        major, minor = torch.cuda.get_device_capability()
    except (AttributeError, AssertionError, RuntimeError):
        # A torch that is only half imported, or a driver that has failed since.
        return None
    return f"cuda:sm{major}{minor}"


@cache
def _driver_device() -> str | None:
    """Return the device that NVIDIA's driver tells of; None for several that differ."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    command = [tool, "--query-gpu=compute_cap", "--format=csv,noheader"]
    try:
        done = subprocess.run(  # noqa: S603 # no part of it comes from outside
            command, capture_output=True, text=True, timeout=SECONDS, check=True
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    lines = {line.strip() for line in done.stdout.splitlines() if line.strip()}
    found = re.fullmatch(r"(\d+)\.(\d+)", lines.pop()) if len(lines) == 1 else None
    return f"cuda:sm{found[1]}{found[2]}" if found else None
