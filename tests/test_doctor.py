"""``mp doctor``: what is installed, detected and broken here, and which recipes run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from importlib.util import find_spec
from pathlib import Path

import pytest

from mp_core import machine
from mp_core.probing import probe
from mp_core.situation import Fact

SMI = "#!/bin/sh\necho '{0}'\n"
#: How the names of what an interpreter shall not find begin.
FRAMEWORKS = ("torch", "megatron", "transformer_engine", "nvidia")


#: The environments of one distribution have no recipe; `all` has every plugin.
beside_plugins = pytest.mark.skipif(
    find_spec("mp_plugin_mxfp8") is None, reason="the recipes' plugins are not installed here"
)


@pytest.fixture
def fresh():
    """Nothing detected yet, and nothing that was detected stays."""
    for cached in (machine._versions, machine._driver_device):
        cached.cache_clear()
    yield
    for cached in (machine._versions, machine._driver_device):
        cached.cache_clear()


@pytest.fixture
def driver(tmp_path, monkeypatch, fresh):
    """Puts a nvidia-smi of the given text alone on PATH."""

    def write(text):
        tool = tmp_path / "bin" / "nvidia-smi"
        tool.parent.mkdir()
        tool.write_text(text)
        tool.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tool.parent}:/bin:/usr/bin")

    return write


class Bare:
    """An interpreter that finds mp-core, what it needs, and a site: no torch, no framework."""

    def __init__(self, site, folder: Path) -> None:
        self.site = site
        places = [Path(place) for place in sys.path if place and Path(place).is_dir()]
        packages = [place for place in places if place.name == "site-packages"]
        mine = [place for place in places if any(place.glob("mp_*/__init__.py"))]
        folder.mkdir()
        for place in packages:
            for one in place.iterdir():
                if not one.name.startswith(FRAMEWORKS):
                    (folder / one.name).symlink_to(one)
        self.path = [str(place) for place in (site.folder, folder, *mine) if place not in packages]

    def doctor(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        kept = {n: v for n, v in os.environ.items() if not n.startswith(("MP_", "NVTE_"))}
        return subprocess.run(
            [
                sys.executable,
                "-S",
                "-c",
                "from mp_core.cli.doctor import command; command()",
                *arguments,
            ],
            env={**kept, "PYTHONPATH": os.pathsep.join(self.path), **environment},
            cwd=self.site.folder.parent,
            capture_output=True,
            text=True,
            check=False,
        )

    def report(self, status: int, **environment: str):
        done = self.doctor("--json", **environment)

        assert done.returncode == status, done.stdout + done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def bare(site, tmp_path):
    """An interpreter without torch and frameworks, but those that a test writes."""
    return Bare(site, tmp_path / "bare")


def of(report, module):
    return next(each for each in report["imports"] if each["module"] == module)


def fake_te(site, source):
    site.distribution("transformer-engine", "2.8.0")
    site.write("transformer_engine/__init__.py", source)
    site.write("transformer_engine/pytorch/__init__.py", "")


@beside_plugins
def test_a_machine_without_any_framework_is_sound(bare):
    report = bare.report(0)

    assert {each["state"] for each in report["imports"]} == {"missing"}
    assert report["facts"]["torch"] == {"value": None, "origin": "detected"}
    assert {row["runs"] for row in report["recipes"]} == {"no"}


META = "raise RuntimeError('Found empty `transformer-engine` meta package installed. Install')"
NO_LIBRARY = "libcublas.so.13: cannot open shared object file: No such file or directory"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (META, "Its import raises RuntimeError: Found empty `transformer-engine` meta package"),
        (f"raise OSError({NO_LIBRARY!r})", "The library libcublas.so.13 is missing"),
        (f"raise ImportError({NO_LIBRARY!r})", "The library libcublas.so.13 is missing"),
        ("import no_such_thing", "It needs no_such_thing, which is not installed"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "by SIGSEGV"),
        ("import os; os._exit(3)", "exit status 3"),
        ("raise SystemExit('old driver')", "SystemExit: old driver"),
    ],
)
def test_a_broken_transformer_engine_is_one_sentence_and_exit_status_1(bare, source, sentence):
    fake_te(bare.site, source)

    report = bare.report(1)
    found = of(report, "transformer_engine.pytorch")

    assert found["state"] == "broken"
    assert sentence in found["message"]
    assert "\n" not in found["message"]
    assert report["facts"]["transformer_engine"]["value"] == "2.8.0"


def test_an_installed_library_without_its_module_is_broken(bare):
    bare.site.distribution("transformer-engine", "2.8.0")

    found = of(bare.report(1), "transformer_engine.pytorch")

    assert found["message"].startswith("transformer-engine 2.8.0 is installed, but not whole.")


def test_an_import_that_hangs_is_told_after_the_time_limit(site):
    site.write("hanging.py", "import time; time.sleep(60)")

    assert probe("hanging", 1).message == "Its import does not end within 1 seconds."


def test_an_import_that_prints_and_crashes_only_when_it_ends_counts_as_one(site):
    site.write("chatty.py", "import atexit, os; print('hello'); atexit.register(os.abort)")

    assert probe("chatty").state == "imports"


def test_a_broken_plugin_is_named_with_its_cause_and_exit_status_1(bare):
    bare.site.plugin("acme-broken", "raise OSError('no disk')")

    (problem,) = bare.report(1)["problems"]

    assert "acme-broken 1.0" in problem
    assert "no disk" in problem


@beside_plugins
def test_only_the_variables_that_are_set_are_told_with_what_they_change(bare):
    report = bare.report(0, NVTE_ROCM_ENABLE_MXFP8="1", MP_DISABLE_PLUGINS="mp-plugin-nemotron")

    assert list(report["environment"]) == ["MP_DISABLE_PLUGINS", "NVTE_ROCM_ENABLE_MXFP8"]
    assert "MXFP8" in report["environment"]["NVTE_ROCM_ENABLE_MXFP8"]["changes"]


def here(bare, capability):
    """A machine with a GPU, torch, Megatron and Transformer Engine, all of which import."""
    tool = bare.site.write("bin/nvidia-smi", SMI.format(capability))
    tool.chmod(0o755)
    bare.site.distribution("torch", "2.9.0+cu129")
    bare.site.write("torch/__init__.py", "")
    bare.site.write("torch/version.py", "from typing import Optional\ncuda: str = '12.9'\n")
    bare.site.distribution("nvidia-cublas-cu12", "12.9.1.4")
    bare.site.distribution("nvidia-cudnn-cu12", "9.14.0.64")
    bare.site.distribution("megatron-core", "0.16.1")
    bare.site.write("megatron/core/__init__.py", "")
    return {"PATH": f"{tool.parent}{os.pathsep}{os.environ['PATH']}"}


def runs(report):
    return {row["recipe"]: row["runs"] for row in report["recipes"]}


@beside_plugins
def test_a_recipe_runs_here_where_its_rules_about_the_machine_say_so(bare):
    path = here(bare, "9.0")
    fake_te(bare.site, "")

    report = bare.report(0, **path)

    assert report["facts"]["device"]["value"] == "cuda:sm90"
    assert runs(report)["bf16_mixed"] == "yes"
    assert runs(report)["bf16_with_fp8_current_scaling_mixed"] == "yes"
    assert runs(report)["bf16_with_mxfp8_mixed"] == "no"


@beside_plugins
def test_a_recipe_does_not_run_where_the_library_it_needs_cannot_be_imported(bare):
    path = here(bare, "9.0")
    fake_te(bare.site, META)

    report = bare.report(1, **path)

    assert runs(report)["bf16_mixed"] == "yes"
    assert runs(report)["bf16_with_fp8_current_scaling_mixed"] == "no"


def test_the_report_for_people_names_each_part(bare):
    fake_te(bare.site, META)

    done = bare.doctor()

    for part in ("Installed", "Imports", "Detected", "Environment: none", "Recipes", "is broken"):
        assert part in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode == 1


def test_the_driver_tells_the_device(driver):
    driver(SMI.format("10.0\n10.0"))

    assert machine.detected()["device"] == Fact("cuda:sm100", "detected")


@pytest.mark.parametrize(
    "text", [SMI.format("9.0\n10.0"), SMI.format("[N/A]"), "#!/bin/sh\nexit 9\n", "#!/bin/sh\n"]
)
def test_a_device_that_the_driver_does_not_tell_is_absent(driver, text):
    driver(text)

    assert "device" not in machine.detected()


def test_a_driver_that_hangs_costs_the_time_limit_only(driver, monkeypatch):
    monkeypatch.setattr(machine, "SECONDS", 0.2)
    driver("#!/bin/sh\nexec sleep 20\n")

    assert "device" not in machine.detected()


@pytest.mark.parametrize(
    ("hip", "key"), [(None, "cuda:sm94"), ("6.4", "rocm:gfx942")], ids=["cuda", "rocm"]
)
def test_a_torch_that_is_initialised_tells_the_vendor_too(monkeypatch, fresh, hip, key):
    device = types.SimpleNamespace(gcnArchName="gfx942:sramecc+:xnack-")
    cuda = types.SimpleNamespace(
        is_initialized=lambda: True,
        current_device=lambda: 0,
        get_device_capability=lambda: (9, 4),
        get_device_properties=lambda index: device,
    )
    torch = types.SimpleNamespace(
        cuda=cuda, version=types.SimpleNamespace(hip=hip), __spec__=None, __path__=[]
    )
    monkeypatch.setitem(sys.modules, "torch", torch)

    assert machine.detected()["device"].value == key


def test_detection_imports_no_framework(site):
    code = "import sys; from mp_core.machine import detected; detected()\n"
    code += "print([m for m in ('torch', 'megatron', 'transformer_engine') if m in sys.modules])"

    assert site.python("-c", code).stdout.strip() == "[]"


def test_a_version_that_cannot_be_read_is_left_out(site, fresh):
    site.distribution("megatron-core", "unknown-build")

    assert "megatron_core" not in machine.detected()


def test_the_libraries_are_those_of_the_cuda_that_torch_was_built_with(site, fresh, monkeypatch):
    # Where another test has imported the real torch, its own spec would be found.
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    site.write("torch/__init__.py", "")
    site.write("torch/version.py", "cuda: Optional[str] = '13.0'\n")
    for name, version in (("cu12", "9.10.2.21"), ("cu13", "9.15.0.57")):
        site.distribution(f"nvidia-cudnn-{name}", version)
    site.distribution("nvidia-cublas", "13.0.2.14")

    found = machine.detected()

    assert found["cuda"].value == "13.0"
    assert found["cudnn"].value == "9.15.0.57"
    assert found["cublas"].value == "13.0.2.14"
