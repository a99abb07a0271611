"""Hooks of plugins: what works, and what a broken one costs."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from mp_core import MixedPrecisionConfig, PluginError, get_mixed_precision_config
from mp_core.plugins import aliases, hooks, manager, vocabulary

GOOD = """
@hookimpl
def mp_vocabulary():
    return {"fp8_recipe": {"acme": "blocks of 7"}, "fp8": ["banana"]}
@hookimpl
def mp_aliases():
    return {"margin": "fp8_margin"}
@hookimpl
def mp_advice(config):
    return [Advice("Buy more.", "acme")]
"""


def advice() -> list[str]:
    found = hooks().mp_advice(config=MixedPrecisionConfig(bf16=True))
    return [each.text for answer in found for each in answer if each.source == "acme"]


def causes(distribution: str = "bad") -> str:
    hooks()
    own = [p for p in manager().problems if p.distribution == distribution]
    return "\n".join(str(problem) for problem in own)


def test_a_plugins_words_aliases_and_advice_are_known(site: Any) -> None:
    site.plugin("good", GOOD)
    assert vocabulary()["fp8_recipe"]["acme"] == "blocks of 7"
    assert vocabulary()["fp8"]["banana"] == ""
    assert aliases()["margin"] == "fp8_margin"
    assert advice() == ["Buy more."]


@pytest.mark.parametrize(
    "source",
    ["import missing_module", "import sys; sys.exit(7)", "raise BaseException('odd')", "1 +"],
)
def test_a_plugin_that_cannot_be_imported_costs_itself_and_is_named(
    site: Any, source: str, caplog: pytest.LogCaptureFixture
) -> None:
    site.plugin("bad", source)
    site.plugin("good", GOOD)
    assert advice() == ["Buy more."]
    for part in ("bad 1.0 [hooks = bad]", "cannot be loaded", "MP_DISABLE_PLUGINS=bad"):
        assert part in causes()
    assert len([each for each in caplog.records if "bad 1.0" in each.message]) == 1


def test_ctrl_c_while_a_plugin_is_imported_passes(site: Any) -> None:
    site.plugin("bad", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        hooks()


def test_a_target_that_its_module_lacks_costs_itself(site: Any) -> None:
    site.distribution("bad", plugins={"hooks": "bad:missing"})
    site.write("bad.py", "")
    site.plugin("good", GOOD)
    assert advice() == ["Buy more."]
    assert "has no attribute 'missing'" in causes()


def test_a_misspelt_hook_costs_its_plugin_and_the_closest_is_named(site: Any) -> None:
    site.plugin("bad", GOOD + "@hookimpl\ndef mp_advise(config):\n    return []\n")
    site.plugin("good", GOOD)
    assert advice() == ["Buy more."]
    assert "no hook mp_advise; did you mean 'mp_advice'?" in causes()


def test_an_optional_hook_that_this_core_lacks_is_accepted(site: Any) -> None:
    site.plugin("good", GOOD + "@hookimpl(optionalhook=True)\ndef mp_later(config):\n    1\n")
    assert advice() == ["Buy more."]
    assert causes("good") == ""


def test_a_hook_of_another_signature_costs_its_plugin(site: Any) -> None:
    site.plugin("bad", GOOD + "@hookimpl\ndef mp_check(config, weather):\n    return []\n")
    site.plugin("good", GOOD)
    assert advice() == ["Buy more."]
    assert "weather" in causes()


@pytest.mark.parametrize(
    "body",
    [
        "return 1 / 0",
        "yield Advice('Buy.', 'acme'); 1 / 0",
        "return mp_advice(config)",
        "return 'text'",
        "return ['text']",
        "return 3",
        "import sys; sys.exit(0)",
        "return get_mixed_precision_config('nonsense').nothing",
    ],
)
def test_a_hook_that_fails_costs_its_own_answer(site: Any, body: str) -> None:
    site.plugin("bad", f"@hookimpl\ndef mp_advice(config):\n    {body}\n")
    site.plugin("good", GOOD)
    assert advice() == ["Buy more."]
    assert "bad 1.0 [hooks = bad] failed in mp_advice" in causes()


@pytest.mark.parametrize(
    "answer", ["['fp8']", "{'fp8': 'banana'}", "{'fp8': 3}", "{'fp8': [[]]}", "lambda: 1"]
)
def test_words_of_another_shape_cost_their_plugin(site: Any, answer: str) -> None:
    site.plugin("bad", f"@hookimpl\ndef mp_vocabulary():\n    return {answer}\n")
    site.plugin("good", GOOD)
    assert vocabulary()["fp8_recipe"]["acme"] == "blocks of 7"
    assert "failed in mp_vocabulary" in causes()


def test_a_failure_is_logged_once_however_often_it_happens(
    site: Any, caplog: pytest.LogCaptureFixture
) -> None:
    site.plugin("bad", "@hookimpl\ndef mp_advice(config):\n    1 / 0\n")
    with caplog.at_level(logging.WARNING, "mp_core"):
        assert [advice() for _ in range(3)] == [[], [], []]
    assert len(caplog.records) == 1


def test_ctrl_c_in_a_hook_passes(site: Any) -> None:
    site.plugin("bad", "@hookimpl\ndef mp_advice(config):\n    raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        advice()


def test_a_failing_hook_that_answers_alone_raises_and_is_named(site: Any) -> None:
    site.plugin("bad", "@hookimpl(tryfirst=True)\ndef mp_homes(field):\n    1 / 0\n")
    with pytest.raises(PluginError, match=r"bad 1.0 \[hooks = bad\] failed in mp_homes") as caught:
        hooks().mp_homes(field="fp8")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_refusal_by_a_hook_that_answers_alone_stays_as_it_is(site: Any) -> None:
    source = "def mp_apply(config, target):\n    raise PrecisionNotApplied('no room')\n"
    site.plugin("good", f"@hookimpl(tryfirst=True)\n{source}")
    with pytest.raises(ValueError, match=r"^no room$"):
        hooks().mp_apply(config=MixedPrecisionConfig(), target=object())


NEW_WRAPPER = """
@hookimpl(wrapper=True)
def mp_advice(config):
    {before}
    result = yield
    {after}
    return [*result, [Advice("Wrapped.", "acme")]]
"""
OLD_WRAPPER = """
@hookimpl(hookwrapper=True)
def mp_advice(config):
    {before}
    result = yield
    {after}
    result.force_result([*result.get_result(), [Advice("Wrapped.", "acme")]])
"""
WRAPPERS = pytest.mark.parametrize("wrapper", [NEW_WRAPPER, OLD_WRAPPER], ids=["new", "old"])


@WRAPPERS
def test_wrappers_of_both_styles_work(site: Any, wrapper: str) -> None:
    site.plugin("around", wrapper.format(before="pass", after="pass"))
    site.plugin("good", GOOD)
    assert advice() == ["Buy more.", "Wrapped."]
    assert causes("around") == ""


@WRAPPERS
@pytest.mark.parametrize("where", ["before", "after"])
def test_a_wrapper_that_fails_leaves_the_result_as_it_was(
    site: Any, wrapper: str, where: str
) -> None:
    parts = {"before": "pass", "after": "pass", where: "1 / 0"}
    site.plugin("bad", wrapper.format(**parts))
    site.plugin("good", GOOD)
    assert advice() == ["Buy more."]
    assert "failed in mp_advice" in causes()
    assert "ZeroDivisionError" in causes()


@WRAPPERS
def test_a_wrapper_that_yields_twice_leaves_the_result_as_it_was(site: Any, wrapper: str) -> None:
    site.plugin("bad", wrapper.format(before="pass", after="yield"))
    site.plugin("good", GOOD)
    assert advice() == ["Buy more."]
    assert "yields once" in causes()


def test_a_wrapper_sees_a_hooks_own_error_and_may_answer_it(site: Any) -> None:
    source = """
@hookimpl(wrapper=True)
def mp_homes(field):
    try:
        return (yield)
    except PluginError:
        return []
"""
    site.plugin("around", source)
    site.plugin("bad", "@hookimpl(tryfirst=True)\ndef mp_homes(field):\n    1 / 0\n")
    assert hooks().mp_homes(field="fp8") == []


def test_a_wrapper_that_lets_an_error_pass_is_not_blamed(site: Any) -> None:
    site.plugin("around", "@hookimpl(wrapper=True)\ndef mp_homes(field):\n    return (yield)\n")
    site.plugin("bad", "@hookimpl(tryfirst=True)\ndef mp_homes(field):\n    1 / 0\n")
    with pytest.raises(PluginError, match=r"^bad 1\.0"):
        hooks().mp_homes(field="fp8")


def test_one_module_that_two_distributions_declare_is_loaded_once(site: Any) -> None:
    site.plugin("good", GOOD)
    site.distribution("wrapping", plugins={"hooks": "good"})
    assert advice() == ["Buy more."]
    assert "loaded already, as good 1.0" in causes("wrapping")


def test_an_object_of_hooks_may_have_properties_that_raise(site: Any) -> None:
    source = """
class Hooks:
    @property
    def broken(self):
        raise OSError
    @hookimpl
    def mp_advice(self, config):
        return [Advice("Object.", "acme")]
instance = Hooks()
"""
    site.plugin("good", GOOD)
    site.plugin("bad", source)
    site.distribution("bad", plugins={"hooks": "bad:instance"})
    assert "Buy more." in advice()


def test_a_plugin_may_ask_for_a_recipe_while_it_is_imported(site: Any) -> None:
    site.recipe("acme", "acme_mixed")
    source = "SEEN = get_mixed_precision_config('acme_mixed').fp8_margin\n"
    site.plugin("early", source + GOOD)
    assert advice() == ["Buy more."]
    assert get_mixed_precision_config("acme_mixed").fp8_margin == 3


def test_a_plugin_that_is_switched_off_is_not_imported(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.plugin("bad", "raise RuntimeError('imported')")
    monkeypatch.setenv("MP_DISABLE_PLUGINS", "bad")
    assert causes() == ""


@pytest.mark.parametrize(
    "code",
    [
        "import early; import mp_core",
        "import mp_core; import early",
        "import early; from mp_core.plugins import hooks; hooks()",
        "from mp_core import MIXED_PRECISION_RECIPES as r; r['acme_mixed'](); import early",
    ],
)
def test_plugin_and_core_may_be_imported_in_either_order(site: Any, code: str) -> None:
    site.recipe("acme", "acme_mixed")
    site.plugin("early", GOOD)
    check = "; import mp_core; assert mp_core.get_mixed_precision_config('acme_mixed:margin=4')"
    printed = site.python("-W", "error", "-c", code + check)
    assert (printed.returncode, printed.stderr) == (0, "")
