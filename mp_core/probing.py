"""Import a module in a process of its own, so that whatever happens is one sentence."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from typing import Literal, NamedTuple

State = Literal["imports", "missing", "broken"]
#: A first import may compile, or read a slow file system.
SECONDS = 120
LENGTH = 400
MARK = "mp-core-probe:"
#: What the process does; it ends without exit handlers, which may crash where the import did not.
CODE = f"""
import importlib, json, os, sys
sys.path[:] = json.loads(sys.argv[2])
report = {{"type": "", "name": "", "text": ""}}
try:
    importlib.import_module(sys.argv[1])
except BaseException as error:
    report["type"] = type(error).__name__
    report["name"] = getattr(error, "name", None) or ""
    report["module"] = isinstance(error, ModuleNotFoundError)
    try:
        report["text"] = str(error)
    except Exception:
        pass
sys.stdout.flush()
os.write(1, ("\\n{MARK}" + json.dumps(report) + "\\n").encode())
os._exit(0)
"""
LIBRARY = re.compile(r"(\S+\.so[\d.]*): cannot open shared object file")


class Probe(NamedTuple):
    """How the import of *module* went; *message* is one sentence, empty where it imports."""

    module: str
    state: State
    message: str = ""


def probe(module: str, seconds: float = SECONDS) -> Probe:
    """Import *module* with this process's path in another one, and tell how it went."""
    command = [sys.executable, "-c", CODE, module, json.dumps(sys.path)]
    try:
        done = subprocess.run(  # noqa: S603 # the module's name is an argument, not code
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Probe(module, "broken", f"Its import does not end within {seconds:g} seconds.")
    except OSError as error:
        return Probe(module, "broken", f"No process for its import can start: {error}.")
    _, mark, report = done.stdout.decode(errors="replace").rpartition(MARK)
    if mark:
        return _read(module, json.loads(report.splitlines()[0]))
    return Probe(module, "broken", _ended(done.returncode))


def _ended(status: int) -> str:
    if status >= 0:
        return f"Its import ends the process with exit status {status}."
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"Its import crashes the process by {name}."


def _read(module: str, report: dict[str, str]) -> Probe:
    kind, name = report["type"], report["name"]
    if not kind:
        return Probe(module, "imports")
    if report["module"] and name and f"{module}.".startswith(f"{name}."):
        return Probe(module, "missing", f"There is no module {name}.")
    return Probe(module, "broken", _sentence(kind, report))


def _sentence(kind: str, report: dict[str, str]) -> str:
    text = " ".join(report["text"].split())
    text = f"{text[:LENGTH]} …" if len(text) > LENGTH else text.rstrip(".")
    library = LIBRARY.search(text)
    if library:
        return f"The library {library[1]} is missing: its import raises {kind}: {text}."
    if report["module"] and report["name"]:
        return f"It needs {report['name']}, which is not installed: {kind}: {text}."
    return f"Its import raises {kind}: {text}." if text else f"Its import raises {kind}."
