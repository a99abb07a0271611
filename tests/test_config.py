"""MixedPrecisionConfig as plain data."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import dataclass, replace
from typing import Any

import pytest
import yaml

from mp_core import InvalidPrecision, MixedPrecisionConfig


@dataclass
class VendorConfig(MixedPrecisionConfig):
    """A vendor's config with a field of its own."""

    coverage: int = 1


def test_a_parameter_field_agrees_with_the_gather_that_was_given() -> None:
    config = MixedPrecisionConfig(fp8_param_gather=True)
    assert config.fp8_param is True
    assert config.origin("fp8_param").kind == "rule"


@pytest.mark.parametrize("family", ["fp4", "fp8"])
@pytest.mark.parametrize("value", [False, True])
def test_a_gather_agrees_with_the_parameter_field_that_was_given(family: str, value: bool) -> None:
    config = MixedPrecisionConfig(**{f"{family}_param": value})
    assert getattr(config, f"{family}_param_gather") is value
    assert getattr(config, f"{family}_param") is value


@pytest.mark.parametrize("family", ["fp4", "fp8"])
def test_a_pair_given_twice_and_different_is_refused(family: str) -> None:
    with pytest.raises(ValueError, match=f"{family}_param=True and {family}_param_gather=False"):
        MixedPrecisionConfig(**{f"{family}_param": True, f"{family}_param_gather": False})


def test_a_pair_moves_together_when_one_is_set_later() -> None:
    config = MixedPrecisionConfig(fp8_param=True)
    config.fp8_param_gather = False
    assert config.fp8_param is False


def test_a_parameter_field_set_to_none_asks_its_gather() -> None:
    config = MixedPrecisionConfig(fp8_param_gather=True)
    config.fp8_param = None
    assert config.fp8_param is True
    assert MixedPrecisionConfig(fp8_param=None).fp8_param is None


def test_replace_never_undoes_what_it_was_asked() -> None:
    config = MixedPrecisionConfig(bf16=True).replace(fp8_param=True)
    assert (config.fp8_param, config.fp8_param_gather) == (True, True)
    assert config.replace(fp8_param_gather=False).fp8_param is False
    with pytest.raises(InvalidPrecision):
        config.replace(fp8_param=True, fp8_param_gather=False)


def test_dataclasses_replace_raises_rather_than_undo_a_value() -> None:
    with pytest.raises(InvalidPrecision, match=r"config\.replace"):
        replace(MixedPrecisionConfig(), fp8_param=True)
    assert replace(MixedPrecisionConfig(), bf16=True).bf16


def test_a_typo_in_an_attribute_is_an_error_that_names_the_closest() -> None:
    with pytest.raises(AttributeError, match="fp8_margin"):
        MixedPrecisionConfig().fp8_margn = 1  # type: ignore[attr-defined] # the fault under test
    with pytest.raises(TypeError, match="fp8_margin"):
        MixedPrecisionConfig(fp8_margn=1)  # type: ignore[call-arg] # the fault under test
    with pytest.raises(AttributeError, match="fp8_margin"):
        MixedPrecisionConfig().replace(fp8_margn=1)


def test_a_vendor_adds_a_field_by_subclassing() -> None:
    config = VendorConfig(bf16=True, coverage=2, fp8_param_gather=True)
    config.coverage = 3
    assert config.fp8_param
    assert config.to_dict()["coverage"] == 3
    assert repr(config).startswith("VendorConfig(bf16=True")
    assert pickle.loads(pickle.dumps(config)) == config  # noqa: S301 # made on the line itself


def test_a_config_survives_json_yaml_pickle_and_copies() -> None:
    config = MixedPrecisionConfig(bf16=True, params_dtype="bf16", fp8="e4m3", fp8_param_gather=True)
    plain = config.to_dict()
    assert MixedPrecisionConfig(**json.loads(json.dumps(plain))) == config
    assert MixedPrecisionConfig(**yaml.safe_load(yaml.safe_dump(plain))) == config
    assert pickle.loads(pickle.dumps(config)) == config  # noqa: S301 # made on the line itself
    assert copy.deepcopy(config) == config == copy.copy(config)


def test_a_copy_changed_later_leaves_the_original_alone() -> None:
    config = MixedPrecisionConfig(bf16=True)
    other = copy.copy(config)
    other.fp8_margin = 2
    assert config.fp8_margin == 0
    assert config.origin("fp8_margin").kind == "recipe"
    assert other.origin("fp8_margin").kind == "override"


def test_equality_is_by_value_and_class() -> None:
    assert MixedPrecisionConfig(bf16=True) == MixedPrecisionConfig(bf16=True)
    assert MixedPrecisionConfig(bf16=True) != MixedPrecisionConfig()
    assert VendorConfig(bf16=True) != MixedPrecisionConfig(bf16=True)
    with pytest.raises(TypeError, match="unhashable"):
        hash(MixedPrecisionConfig())


@pytest.mark.parametrize("spelling", ["bf16", "bfloat16", "torch.bfloat16", "BFloat16"])
def test_a_dtype_is_held_by_name(spelling: str) -> None:
    assert MixedPrecisionConfig(params_dtype=spelling).to_dict()["params_dtype"] == "bfloat16"


@pytest.mark.parametrize("wrong", ["float23", "int8", 16, object()])
def test_what_is_no_parameter_dtype_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="is not a parameter dtype"):
        MixedPrecisionConfig(params_dtype=wrong)


def test_the_repr_is_the_call_that_makes_it() -> None:
    config = MixedPrecisionConfig(bf16=True, params_dtype="bf16", loss_scale=2.0)
    assert eval(repr(config)) == config  # noqa: S307 # the text was made on the line above
