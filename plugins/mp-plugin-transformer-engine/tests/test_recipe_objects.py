"""Recipe objects of real Transformer Engine releases, and their code where there is none.

tox downloads each release's pure wheel. Elsewhere MP_TE_WHEELS may name a folder of them, one
directory a release, named by its version (``pip install --no-deps --target 2.8.0
transformer-engine==2.8.0``), and one named pydantic, which Transformer Engine's recipes need.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mp_core import ClassMissing, InvalidPrecision, MixedPrecisionConfig, Situation
from mp_plugin_transformer_engine.recipe_objects import MODULE, recipe_call

WHEELS = os.environ.get("MP_TE_WHEELS")
RELEASES = ("1.13.0", "2.1.0", "2.4.0", "2.8.0", "2.12.0", "2.16.1", "2.19.0", "2.20.2")
SINCE = {
    "DelayedScaling": "1.13.0",
    "MXFP8BlockScaling": "2.1.0",
    "Float8CurrentScaling": "2.4.0",
    "Float8BlockScaling": "2.4.0",
    "NVFP4BlockScaling": "2.8.0",
}
DELAYED: dict[str, Any] = {
    "fp8": "hybrid",
    "fp8_margin": 2,
    "fp8_amax_history_len": 32,
    "fp8_amax_compute_algo": "max",
}
ATTENTION = {"fp8_dot_product_attention": True, "fp8_multi_head_attention": True}
#: Class, config, and the fields that shall not be at their defaults, as the object shows them.
CASES: dict[str, tuple[str, dict[str, Any], dict[str, str]]] = {
    "delayed": (
        "DelayedScaling",
        {**DELAYED, **ATTENTION},
        {"margin": "2", "amax_history_len": "32", "fp8_dpa": "True", "fp8_mha": "True"},
    ),
    "delayed e4m3 most recent": (
        "DelayedScaling",
        {"fp8": "e4m3"},
        {"fp8_format": "E4M3", "amax_history_len": "1", "amax_compute_algo": "'most_recent'"},
    ),
    "tensorwise": ("Float8CurrentScaling", {"fp8": "hybrid"}, {}),
    "tensorwise e4m3": ("Float8CurrentScaling", {"fp8": "e4m3"}, {"fp8_format": "E4M3"}),
    "tensorwise attention": (
        "Float8CurrentScaling",
        {"fp8": "hybrid", "fp8_dot_product_attention": True},
        {"fp8_dpa": "True"},
    ),
    "blockwise": ("Float8BlockScaling", {"fp8": "e4m3"}, {}),
    "blockwise hybrid": ("Float8BlockScaling", {"fp8": "hybrid"}, {"fp8_format": "HYBRID"}),
    "mxfp8": ("MXFP8BlockScaling", {"fp8": "e4m3"}, {}),
    "mxfp8 hybrid": (
        "MXFP8BlockScaling",
        {"fp8": "hybrid", **ATTENTION},
        {"fp8_format": "HYBRID", "fp8_dpa": "True"},
    ),
    "nvfp4": ("NVFP4BlockScaling", {"fp4": "e2m1"}, {}),
    "nvfp4 attention": (
        "NVFP4BlockScaling",
        {"fp4": "e2m1", "fp8_dot_product_attention": True},
        {"fp8_dpa": "True"},
    ),
}
#: What a release's class refuses by an assertion.
REFUSED = {("tensorwise attention", "2.4.0")}
NO_WGRAD = ("DelayedScaling", {**DELAYED, "fp8_wgrad": False})

#: Runs where a wheel is on the path: builds each case twice, by build() and by its pasted code.
CHILD = """
import dataclasses, json, sys
sys.modules["torch"] = None  # the recipes need none, and to import it takes longest
from mp_core import InvalidPrecision, MixedPrecisionConfig, Situation
from mp_plugin_transformer_engine.recipe_objects import MODULE, known_fields, recipe_call

def shown(value):
    return getattr(value, "name", repr(value))

def read(made):
    return {each.name: shown(getattr(made, each.name)) for each in dataclasses.fields(made)}

def built(name, fields, release):
    try:
        situation = Situation({"transformer_engine": release} if release else {})
        call = recipe_call(MixedPrecisionConfig(**fields), situation, name)
    except InvalidPrecision as error:
        return {"refused": str(error)}
    try:
        made = call.build()
    except ImportError as error:
        return {"missing": str(error)}
    except InvalidPrecision as error:
        return {"refused": str(error)}
    pasted = {}
    exec(call.code(), pasted)
    return {
        "type": type(made).__name__,
        "fields": read(made),
        "pasted": read(pasted["recipe"]),
        "passed": sorted(call.arguments),
        "defaults": read(type(made)()),
        "table": sorted(known_fields(name, VERSION)),
    }

VERSION, cases = sys.argv[1], json.loads(sys.argv[2])
print(json.dumps([built(*case) for case in cases]))
"""

wheels = pytest.mark.skipif(
    not WHEELS and "TOX_ENV_NAME" not in os.environ,
    reason="tox downloads the wheels, and MP_TE_WHEELS names no folder of them",
)
real = [pytest.param(release, marks=wheels) for release in RELEASES]


@cache
def unpacked(name: str, *requirement: str) -> str:
    """Return the directory of *name*, filled with *requirement* where no folder was given."""
    if WHEELS:
        return str(Path(WHEELS) / name)
    folder = tempfile.mkdtemp(prefix=f"{name}-")
    command = [sys.executable, "-I", "-m", "pip", "install", "-qq", "--target", folder]
    subprocess.run([*command, *requirement], check=True)
    return folder


@cache
def readings(release: str) -> dict[str, dict[str, Any]]:
    """Return what each case gives in a process of its own with *release* on its path."""
    engine = unpacked(release, "--no-deps", f"transformer-engine=={release}")
    folders = [engine, unpacked("pydantic", "pydantic"), os.environ.get("PYTHONPATH")]
    cases = [(name, fields, known) for name, fields, _ in CASES.values() for known in ("", release)]
    cases += [(*NO_WGRAD, ""), (*NO_WGRAD, release)]
    path = os.pathsep.join(filter(None, folders))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NVTE_")}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, release, json.dumps(cases)],
        env={**kept, "PYTHONPATH": path, "NVTE_PROJECT_BUILDING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    names = [f"{case}{known}" for case in (*CASES, "no wgrad") for known in ("", " told")]
    return dict(zip(names, json.loads(done.stdout), strict=True))


def made(release: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the cases whose class *release* has, each with what it gave."""
    rank = RELEASES.index
    has = [case for case, (name, *_) in CASES.items() if rank(SINCE[name]) <= rank(release)]
    has = [case for case in has if (case, release) not in REFUSED]
    every = readings(release)
    return [(case, every[case + told]) for case in has for told in ("", " told")]


@pytest.mark.parametrize("release", real)
def test_the_object_is_of_the_class_and_has_the_values_of_the_config(release: str) -> None:
    for case, reading in made(release):
        name, _, changed = CASES[case]
        assert (reading["type"], reading["fields"]) == (name, {**reading["defaults"], **changed})


@pytest.mark.parametrize("release", real)
def test_the_pasted_code_makes_the_same_object(release: str) -> None:
    assert all(reading["pasted"] == reading["fields"] for _, reading in made(release))


@pytest.mark.parametrize("release", real)
def test_the_table_names_the_fields_that_the_real_class_is_passed(release: str) -> None:
    assert all(reading["passed"] == reading["table"] for _, reading in made(release))


@pytest.mark.parametrize("release", real)
def test_a_class_that_the_release_lacks_is_refused_or_missing_by_name(release: str) -> None:
    rank = RELEASES.index
    for case, (name, *_) in CASES.items():
        if rank(SINCE[name]) > rank(release):
            assert f"has no {name}" in readings(release)[f"{case} told"]["refused"]
            assert name in readings(release)[case]["missing"]


@pytest.mark.parametrize("release", [pytest.param("2.4.0", marks=wheels)])
def test_current_scaling_with_fp8_attention_is_refused_with_or_without_a_version(
    release: str,
) -> None:
    reading = readings(release)
    own = "FP8 attention is not supported for Float8CurrentScaling; "
    assert own in reading["tensorwise attention"]["refused"]
    told = reading["tensorwise attention told"]["refused"]
    assert "fp8_dot_product_attention=false" in told


@pytest.mark.parametrize("release", real)
@pytest.mark.parametrize("told", ["", " told"])
def test_weight_gradients_outside_fp8_are_for_transformer_engine_1_only(
    release: str, told: str
) -> None:
    reading = readings(release)["no wgrad" + told]
    if release.startswith("1."):
        shown = reading["fields"]["override_linear_precision"]
        assert shown.endswith("(fprop=False, dgrad=False, wgrad=True)")
    else:
        assert "override_linear_precision=(False, False, True)" in reading["refused"]
        assert "type fp8_wgrad=true" in reading["refused"]


def code(name: str, release: str | None, **fields: Any) -> str:
    """Return the code for a config where Transformer Engine is not installed."""
    facts = {} if release is None else {"transformer_engine": release}
    return recipe_call(MixedPrecisionConfig(**fields), Situation(facts), name).code()


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python without Transformer Engine."""
    monkeypatch.setitem(sys.modules, MODULE, None)


@pytest.mark.usefixtures("bare")
def test_code_for_a_given_version_needs_no_transformer_engine() -> None:
    assert code("MXFP8BlockScaling", "2.8.0", fp8="e4m3") == (
        "from transformer_engine.common.recipe import Format, MXFP8BlockScaling\n\n"
        "recipe = MXFP8BlockScaling(\n    fp8_format=Format.E4M3,\n    fp8_dpa=False,\n)\n"
    )


@pytest.mark.usefixtures("bare")
def test_code_for_an_unknown_version_passes_only_what_is_not_at_its_default() -> None:
    text = code("DelayedScaling", None, **DELAYED)
    assert "override_linear_precision" not in text
    assert "fp8_dpa" not in text
    assert "override_linear_precision" in code("DelayedScaling", None, **DELAYED, fp8_wgrad=False)
    assert code("NVFP4BlockScaling", None, fp4="e2m1").endswith("recipe = NVFP4BlockScaling()\n")


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("name", "before", "first"),
    [
        ("Float8BlockScaling", "2.2.0", "2.3.0"),
        ("Float8CurrentScaling", "2.1.0", "2.2.0"),
        ("NVFP4BlockScaling", "2.7.0", "2.8.0"),
        ("NVFP4BlockScaling", "2.7.0", "2.8.0.dev0+vendor"),
        ("NVFP4BlockScaling", "2.7.0", "2.12.0"),
    ],
)
def test_a_version_before_the_class_is_refused(name: str, before: str, first: str) -> None:
    assert name in code(name, first, fp8="e4m3")
    with pytest.raises(InvalidPrecision, match=f"{before} has no {name}"):
        code(name, before, fp8="e4m3")


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("release", "accepted"),
    [("2.3.0", True), ("2.4.0", False), ("2.7.0", False), ("2.8.0", True)],
)
def test_fp8_attention_under_current_scaling_depends_on_the_version(
    release: str, accepted: bool
) -> None:
    config: dict[str, Any] = {"fp8": "hybrid", "fp8_dot_product_attention": True}
    try:
        accepts = "fp8_dpa=True" in code("Float8CurrentScaling", release, **config)
    except InvalidPrecision as error:
        accepts = "Float8CurrentScaling refuses fp8_dpa=True" not in str(error)
    assert accepts is accepted


@pytest.mark.usefixtures("bare")
def test_pure_e5m2_is_refused_with_the_formats_to_type() -> None:
    with pytest.raises(InvalidPrecision, match="type fp8=e4m3 or fp8=hybrid"):
        code("DelayedScaling", "2.8.0", fp8="e5m2")


@pytest.mark.usefixtures("bare")
def test_building_without_transformer_engine_says_so() -> None:
    call = recipe_call(MixedPrecisionConfig(fp8="e4m3"), Situation(), "Float8CurrentScaling")
    with pytest.raises(ClassMissing, match="cannot be imported here"):
        call.build()
