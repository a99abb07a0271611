"""Calls of classes that are installed in one form, in another, or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from mp_core import ClassMissing, InvalidPrecision
from mp_core.calls import Call, Member

ENGINE = """
import dataclasses, enum
class Format(enum.Enum):
    E4M3 = 1
@dataclasses.dataclass
class Scaling:
    format: Format = None
    history: int = 1024
    kept: int = dataclasses.field(default=0, init=False)
    def __post_init__(self):
        assert self.history > 0, "history must be positive"
"""
FORMAT = {"format": Member("Format", "E4M3")}


def call(**arguments: Any) -> Call:
    """Return a call of the engine's class, which has no field for *attention*."""
    labels = {"attention": "fp8_attention=false"}
    return Call("engine", "Scaling", arguments, {"attention": False}, labels)


@pytest.fixture
def engine(site: Any) -> Any:
    """The engine on the path."""
    site.write("engine.py", ENGINE)
    return site


@pytest.mark.usefixtures("engine")
def test_members_of_the_module_become_its_values() -> None:
    made = call(**FORMAT, history=3).build()
    assert (made.format.name, made.history) == ("E4M3", 3)


@pytest.mark.usefixtures("engine")
def test_an_argument_without_a_field_is_left_out_only_at_its_default() -> None:
    assert call(attention=False, history=3).build().history == 3
    with pytest.raises(InvalidPrecision, match=r"no field for attention=True.*fp8_attention=false"):
        call(attention=True).build()


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", ["surprise", "kept"])
def test_an_argument_that_has_no_default_is_never_left_out(name: str) -> None:
    with pytest.raises(InvalidPrecision, match=f"no field for {name}=0"):
        call(**{name: 0}).build()


@pytest.mark.usefixtures("engine")
def test_what_the_class_itself_refuses_is_told_with_its_own_words() -> None:
    with pytest.raises(InvalidPrecision, match="history must be positive"):
        call(history=-1).build()


@pytest.mark.usefixtures("engine")
def test_the_code_makes_the_object_that_is_built() -> None:
    wanted, pasted = call(**FORMAT, history=3), {}
    exec(wanted.code(), pasted)  # noqa: S102 # to paste is what it is for
    assert pasted["recipe"] == wanted.build()


@pytest.mark.parametrize("failure", ["RuntimeError('broken')", "OSError('libcudart.so')"])
def test_a_module_that_fails_at_import_is_told_with_its_reason(site: Any, failure: str) -> None:
    site.write("engine.py", f"raise {failure}")
    with pytest.raises(ClassMissing, match=r"broken|libcudart\.so"):
        call().build()


@pytest.mark.usefixtures("engine")
def test_a_class_that_the_module_lacks_is_told() -> None:
    with pytest.raises(ClassMissing, match=r"engine\.Other cannot be imported"):
        Call("engine", "Other", {}).build()
