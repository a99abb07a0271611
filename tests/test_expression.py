"""Names with overrides: strings, keywords and mappings mean the same."""

from __future__ import annotations

import contextlib
import types
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mp_core import (
    InvalidPrecision,
    MixedPrecisionConfig,
    UnknownRecipe,
    get_mixed_precision_config,
)
from mp_core.expression import parse

ALIASES = """
@hookimpl
def mp_aliases():
    return {"accumulate_in_fp32": "grad_reduce_in_fp32", "hysteresis": "fp8_margin"}
"""
VENDOR = """
import dataclasses
from typing import Optional
from mp_core import MixedPrecisionConfig
@dataclasses.dataclass
class Vendor(MixedPrecisionConfig):
    acme_blocks: Optional[int] = None
    acme_on: bool = False
    acme_rate: float = 0.5
def acme_mixed():
    return Vendor(bf16=True, params_dtype="bf16")
"""


@pytest.fixture
def acme(site: Any) -> Any:
    """The recipe acme_mixed is installed."""
    site.recipe("acme", "acme_mixed")
    return site


def plain(config: MixedPrecisionConfig) -> dict[str, Any]:
    return config.to_dict()


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("fp8_margin=1", {"fp8_margin": 1}),
        ("grad_reduce_in_fp32=false,hysteresis=3", {"grad_reduce_in_fp32": False, "hysteresis": 3}),
        ("loss_scale=2.5", {"loss_scale": 2.5}),
        ("initial_loss_scale=None", {"initial_loss_scale": None}),
        ("autocast_dtype=bf16", {"autocast_dtype": "bfloat16"}),
        ("pipeline_dtype=torch.bfloat16", {"pipeline_dtype": "bf16"}),
        ("params_dtype=none", {"params_dtype": None}),
        ("fp8_param=true", {"fp8_param": True}),
        ("fp8_recipe=delayed", {"fp8_recipe": "delayed"}),
        ("fp8-margin=-1", {"fp8_margin": -1}),
    ],
)
def test_a_string_keywords_and_a_mapping_are_equal(
    acme: Any, written: str, values: dict[str, Any]
) -> None:
    by_string = get_mixed_precision_config(f"acme_mixed:{written}")
    assert by_string == get_mixed_precision_config("acme_mixed", **values)
    mapping = types.MappingProxyType({"recipe": "acme_mixed", **values})
    assert by_string == get_mixed_precision_config(mapping)
    assert {str(by_string.origin(name)) for name in values} == {"override"}


def test_spaces_and_hyphens_do_not_matter(acme: Any) -> None:
    expected = get_mixed_precision_config("acme_mixed:fp8_margin=1,hysteresis=3")
    assert get_mixed_precision_config(" acme-mixed : fp8-margin = 1 , hysteresis = 3 ") == expected


def test_written_values_in_keywords_and_mappings_are_read_too(acme: Any) -> None:
    config = get_mixed_precision_config({"recipe": "acme_mixed", "fp8_margin": "2"}, fp16="false")
    assert (config.fp8_margin, config.fp16) == (2, False)


@pytest.mark.parametrize("word", ["true", "True", "1", "yes", "TRUE"])
def test_truth_may_be_written_as_people_do(acme: Any, word: str) -> None:
    assert (
        get_mixed_precision_config(f"acme_mixed:autocast_enabled={word}").autocast_enabled is True
    )


def test_another_projects_name_for_a_field_is_understood(acme: Any) -> None:
    acme.plugin("names", ALIASES)
    config = get_mixed_precision_config("acme_mixed:accumulate-in-fp32=false")
    assert config.grad_reduce_in_fp32 is False
    assert get_mixed_precision_config("acme_mixed", accumulate_in_fp32=False) == config


def test_a_fields_own_name_comes_before_an_alias(acme: Any) -> None:
    acme.plugin("names", ALIASES)
    config = get_mixed_precision_config("acme_mixed:hysteresis=5")
    assert (config.hysteresis, config.fp8_margin) == (5, 3)


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("acme_mixed:fp8_margin=1,fp8_margin=2", {}),
        ("acme_mixed:fp8_margin=1", {"fp8_margin": 2}),
        ({"recipe": "acme_mixed:fp8_margin=1", "fp8_margin": 2}, {}),
        ({"recipe": "acme_mixed", "fp8_margin": 1}, {"fp8_margin": 2}),
        ("acme_mixed:fp8-margin=1,fp8_margin=2", {}),
        ("acme_mixed:grad_reduce_in_fp32=true", {"accumulate_in_fp32": False}),
    ],
)
def test_a_field_given_twice_and_different_is_refused(
    acme: Any, name: Any, overrides: dict[str, Any]
) -> None:
    acme.plugin("names", ALIASES)
    with pytest.raises(InvalidPrecision, match="is given twice"):
        get_mixed_precision_config(name, **overrides)


def test_a_field_given_twice_and_equal_is_accepted_however_it_is_written(acme: Any) -> None:
    config = get_mixed_precision_config(
        {"recipe": "acme_mixed:fp8_margin=1,autocast_dtype=bf16", "autocast_dtype": "bfloat16"},
        fp8_margin=1,
    )
    assert config.fp8_margin == 1


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("fp8_margin=one", "fp8_margin='one' is not int"),
        ("fp8_margin=1.5", "fp8_margin='1.5' is not int"),
        ("fp8_margin=none", "fp8_margin='none' is not int"),
        ("bf16=maybe", "bf16='maybe' is not true or false"),
        ("fp8_param=maybe", "fp8_param='maybe' is not true or false"),
        ("loss_scale=big", "loss_scale='big' is not float"),
        (
            "params_dtype=bf61",
            "params_dtype: 'bf61' is not a parameter dtype; did you mean 'bf16'?",
        ),
        ("fp8_marging=1", "no field 'fp8_marging'; did you mean 'fp8_margin'?"),
        ("recipe=x", "no field 'recipe'"),
        ("loss_scale=-1", "legal: a positive number"),
        ("fp8=banana", "fp8='banana'"),
    ],
)
def test_an_unknown_field_or_an_ill_typed_value_is_named(
    acme: Any, written: str, said: str
) -> None:
    with pytest.raises(InvalidPrecision) as caught:
        get_mixed_precision_config(f"acme_mixed:{written}")
    assert said in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("rest", [":", ":fp8_margin", ":=1", ":fp8_margin=1,", ":,", ":a:b"])
def test_a_form_that_is_not_field_and_value_shows_one_that_is(acme: Any, rest: str) -> None:
    with pytest.raises(InvalidPrecision, match="write for example acme_mixed:fp8_margin=1"):
        get_mixed_precision_config(f"acme_mixed{rest}")


@pytest.mark.parametrize("name", [None, 3, ["acme_mixed"], {}, {"name": "acme_mixed"}, "", {3: 4}])
def test_what_is_no_name_mapping_or_config_is_refused(acme: Any, name: Any) -> None:
    with pytest.raises(UnknownRecipe):
        get_mixed_precision_config(name)


def test_a_value_of_another_type_is_refused_in_every_form(acme: Any) -> None:
    for value in (1.5, [1], True, {}):
        with pytest.raises(InvalidPrecision, match="fp8_margin"):
            get_mixed_precision_config("acme_mixed", fp8_margin=value)


def test_a_config_is_returned_as_it_is_and_never_changed(acme: Any) -> None:
    config = get_mixed_precision_config("acme_mixed")
    assert get_mixed_precision_config(config) is config
    other = get_mixed_precision_config(config, fp8_margin=8)
    assert (config.fp8_margin, other.fp8_margin) == (3, 8)
    assert get_mixed_precision_config({"recipe": config, "fp8_margin": 8}) == other


def test_a_mapping_is_never_changed(acme: Any) -> None:
    mapping = {"recipe": "acme_mixed", "fp8_margin": "8"}
    get_mixed_precision_config(mapping)
    assert mapping == {"recipe": "acme_mixed", "fp8_margin": "8"}


def test_a_vendors_fields_take_their_own_types(site: Any) -> None:
    site.recipe("acme", "acme_mixed", VENDOR)
    config: Any = get_mixed_precision_config(
        "acme_mixed:acme_blocks=4,acme_on=yes,acme_rate=1,fp8_margin=2"
    )
    assert (config.acme_blocks, config.acme_on, config.acme_rate) == (4, True, 1.0)
    assert get_mixed_precision_config(config, acme_blocks="none").to_dict()["acme_blocks"] is None
    with pytest.raises(InvalidPrecision, match="acme_blocks='x' is not int"):
        get_mixed_precision_config("acme_mixed:acme_blocks=x")


FIELDS = {
    "fp8_margin": st.integers(),
    "hysteresis": st.integers(1, 99),
    "loss_scale": st.floats(1e-3, 1e9) | st.none(),
    "autocast_enabled": st.booleans(),
    "autocast_dtype": st.sampled_from(["bfloat16", "float16", "float32", None]),
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.fixed_dictionaries({}, optional=FIELDS))
def test_whatever_is_written_reads_back_as_it_was(acme: Any, values: dict[str, Any]) -> None:
    rest = ",".join(f"{name}={value}" for name, value in values.items())
    written = f"acme_mixed:{rest}" if rest else "acme_mixed"
    assert get_mixed_precision_config(written) == get_mixed_precision_config("acme_mixed", **values)


@given(st.text())
def test_any_text_is_a_name_with_values_or_a_named_error(text: str) -> None:
    with contextlib.suppress(InvalidPrecision):
        name, asked = parse(text)
        assert ":" not in name
        assert all(asked)
