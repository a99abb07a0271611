"""The book of recipes: who offers a name, and what a factory that misbehaves costs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mp_core
from mp_core import (
    InvalidPrecision,
    MixedPrecisionConfig,
    PluginError,
    RecipeConflict,
    UnknownRecipe,
    derive,
    get_mixed_precision_config,
    register,
)
from mp_core.catalogue import CATALOGUE
from mp_core.recipes import Recipe, RecipeBook, recipe_book, runtime_recipes

PROJECTS = Path(__file__).parents[1] / "plugins"
HEAD = "from mp_core import *\nfrom mp_core import MIXED_PRECISION_RECIPES, hookimpl, register\n"


def factory(body: str) -> str:
    return f"{HEAD}def acme_mixed():\n    {body}\n"


def test_the_book_holds_callables_that_say_where_they_come_from(site: Any) -> None:
    site.recipe("acme", "acme-mixed", version="2.0")
    assert isinstance(mp_core.MIXED_PRECISION_RECIPES, dict)
    recipe = mp_core.MIXED_PRECISION_RECIPES["acme_mixed"]
    assert recipe == Recipe("acme_mixed", "acme", "2.0", "acme:acme_mixed")
    assert "acme" not in sys.modules
    assert recipe().fp8_margin == 3
    assert recipe().recipe == "acme_mixed"


def test_hyphens_and_underscores_are_the_same_everywhere(site: Any) -> None:
    site.recipe("acme", "acme_mixed")
    book = recipe_book()
    assert "acme-mixed" in book
    assert book["acme-mixed"] is book["acme_mixed"] is book.get("acme-mixed")
    assert book["acme-mixed@Acme"] is book["acme_mixed"]
    assert [name for name in book if name.startswith("acme")] == ["acme_mixed"]


def test_a_name_that_is_not_there_reads_as_the_default(site: Any) -> None:
    assert recipe_book().get("acme_mixed") is None
    assert recipe_book().get("acme_mixed", 3) == 3
    assert "acme_mixed" not in recipe_book()
    assert 3 not in recipe_book()


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("raise KeyError('secret')", "KeyError: 'secret'"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("return acme_mixed()", "RecursionError"),
        ("return {'bf16': True}", "its factory gives a dict, not a MixedPrecisionConfig"),
        ("return None", "NoneType"),
        ("return MixedPrecisionConfig(fp9=True)", "has no field 'fp9'; did you mean 'fp8'?"),
        ("return MixedPrecisionConfig(fp8_param=True, fp8_param_gather=False)", "contradict"),
        ("MIXED_PRECISION_RECIPES.clear()", "MIXED_PRECISION_RECIPES"),
        (
            "MIXED_PRECISION_RECIPES['acme_mixed'] = 3; return MixedPrecisionConfig()",
            "changes MIXED",
        ),
        ("register(acme_more); return MixedPrecisionConfig()", "acme_more"),
        ("return derive('bf16-mixedd')", "did you mean 'bf16_mixed'?"),
    ],
)
def test_a_factory_that_misbehaves_costs_itself_and_is_named(
    site: Any, body: str, cause: str
) -> None:
    site.recipe("bad", "bad_mixed", factory(body))
    site.recipe("acme", "acme_mixed")
    before = dict(recipe_book())
    with pytest.raises(PluginError) as caught:
        get_mixed_precision_config("bad_mixed")
    for part in ("bad 1.0 [bad_mixed = bad:acme_mixed]", cause, "MP_DISABLE_PLUGINS=bad"):
        assert part in str(caught.value)
    assert dict(recipe_book()) == before
    assert get_mixed_precision_config("acme_mixed").fp8_margin == 3


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("import missing_module", "No module named 'missing_module'"),
        ("import sys; sys.exit()", "SystemExit"),
        ("def other(): pass", "has no attribute 'acme_mixed'"),
        ("acme_mixed = 3", "'int' object is not callable"),
        ("acme_mixed: = 3", "SyntaxError"),
    ],
)
def test_a_recipe_whose_module_cannot_be_used_costs_itself_and_is_named(
    site: Any, source: str, cause: str
) -> None:
    site.recipe("bad", "bad_mixed", source)
    with pytest.raises(PluginError) as caught:
        get_mixed_precision_config("bad_mixed")
    assert "bad 1.0 [bad_mixed = bad:acme_mixed]" in str(caught.value)
    assert cause in str(caught.value)
    assert caught.value.__cause__ is not None


def test_ctrl_c_in_a_factory_passes(site: Any) -> None:
    site.recipe("bad", "bad_mixed", factory("raise KeyboardInterrupt"))
    with pytest.raises(KeyboardInterrupt):
        get_mixed_precision_config("bad_mixed")


def test_one_object_that_a_factory_shares_cannot_be_changed_through_a_result(site: Any) -> None:
    source = f"{HEAD}SHARED = MixedPrecisionConfig(bf16=True)\ndef acme_mixed():\n    return SHARED"
    site.recipe("acme", "acme_mixed", source)
    first = get_mixed_precision_config("acme_mixed")
    first.fp8_margin = 9
    assert get_mixed_precision_config("acme_mixed").fp8_margin == 0
    assert get_mixed_precision_config("acme_mixed").origin("fp8_margin").kind == "recipe"


def test_two_distributions_of_one_name_conflict_with_what_to_type(site: Any) -> None:
    site.recipe("acme", "acme_mixed", version="1.5")
    site.recipe("rival", "acme-mixed")
    with pytest.raises(RecipeConflict) as caught:
        get_mixed_precision_config("acme_mixed")
    for part in (
        "acme 1.5 [acme_mixed = acme:acme_mixed]",
        "rival 1.0 [acme_mixed = rival:acme_mixed]",
        "acme_mixed@acme",
        "MP_PREFER=acme_mixed=acme",
        "MP_DISABLE_PLUGINS=rival",
    ):
        assert part in str(caught.value)


def test_a_name_with_its_distribution_picks_among_rivals(site: Any) -> None:
    site.recipe("acme", "acme_mixed")
    site.recipe("big-rival", "acme_mixed", factory("return MixedPrecisionConfig(fp8_margin=5)"))
    for name in ("acme_mixed@big-rival", "acme-mixed@Big_Rival", "acme_mixed@big.rival"):
        config = get_mixed_precision_config(f"{name}:hysteresis=3")
        assert (config.fp8_margin, config.hysteresis, config.recipe) == (5, 3, "acme_mixed")
    assert derive("acme_mixed@big-rival").origin("fp8_margin").name == "acme_mixed"


def test_a_preference_or_a_switch_resolves_a_conflict(
    site: Any, monkeypatch: pytest.MonkeyPatch, again: Callable[[], None]
) -> None:
    site.recipe("acme", "acme_mixed")
    site.recipe("big-rival", "acme_mixed", factory("return MixedPrecisionConfig(fp8_margin=5)"))
    monkeypatch.setenv("MP_PREFER", "other=x, acme-mixed = Big_Rival")
    assert get_mixed_precision_config("acme_mixed").fp8_margin == 5
    monkeypatch.setenv("MP_PREFER", "acme_mixed=nobody")
    again()
    with pytest.raises(RecipeConflict):
        get_mixed_precision_config("acme_mixed")
    monkeypatch.setenv("MP_DISABLE_PLUGINS", "big-rival")
    again()
    assert get_mixed_precision_config("acme_mixed").fp8_margin == 3


def test_a_distribution_that_does_not_offer_the_name_is_told_who_does(site: Any) -> None:
    site.recipe("acme", "acme_mixed")
    with pytest.raises(UnknownRecipe, match=r"other has no recipe 'acme_mixed' here; .* from acme"):
        get_mixed_precision_config("acme_mixed@other")


RUNTIME = """
@hookimpl
def mp_recipes():
    return {"late-mixed": lambda: MixedPrecisionConfig(fp8_margin=MARGIN)}
"""


def test_recipes_of_a_hook_are_found_by_name_and_belong_to_their_distribution(site: Any) -> None:
    site.plugin("late", RUNTIME.replace("MARGIN", "7"))
    config = get_mixed_precision_config("late_mixed")
    assert (config.fp8_margin, config.recipe) == (7, "late_mixed")
    assert get_mixed_precision_config("late-mixed@late") == config
    recipe = runtime_recipes()["late_mixed"]
    assert recipe == Recipe("late_mixed", "late", "1.0", "mp_recipes()")
    assert "late_mixed" not in recipe_book()


def test_recipes_of_two_hooks_conflict_and_cost_no_other_name(site: Any) -> None:
    site.plugin("late", RUNTIME.replace("MARGIN", "7"))
    site.plugin("later", RUNTIME.replace("MARGIN", "8").replace("}", ", 'own': lambda: 3}"))
    with pytest.raises(RecipeConflict, match=r"late 1\.0 .*\n.*later 1\.0"):
        get_mixed_precision_config("late_mixed")
    assert get_mixed_precision_config("late_mixed@later").fp8_margin == 8
    with pytest.raises(PluginError, match=r"later 1\.0 \[own = mp_recipes\(\)\]"):
        get_mixed_precision_config("own")


def test_a_hook_of_recipes_that_fails_costs_its_own_recipes(site: Any) -> None:
    site.plugin("bad", "@hookimpl\ndef mp_recipes():\n    return ['x']\n")
    site.plugin("late", RUNTIME.replace("MARGIN", "7"))
    assert get_mixed_precision_config("late_mixed").fp8_margin == 7


def test_a_wrapper_around_the_build_may_adjust_the_config(site: Any) -> None:
    site.recipe("acme", "acme_mixed")
    source = """
@hookimpl(wrapper=True)
def mp_build_recipe(name, factory):
    return (yield).replace(hysteresis=9)
"""
    site.plugin("around", source)
    config = get_mixed_precision_config("acme_mixed")
    assert (config.fp8_margin, config.hysteresis) == (3, 9)


def test_a_wrapper_that_lets_a_factorys_error_pass_is_not_blamed(site: Any) -> None:
    site.recipe("bad", "bad_mixed", factory("raise OSError('no disk')"))
    source = "def mp_build_recipe(name, factory):\n    return (yield)\n"
    site.plugin("around", f"@hookimpl(wrapper=True)\n{source}")
    with pytest.raises(PluginError, match=r"^bad 1\.0 \[bad_mixed = bad:acme_mixed\]"):
        get_mixed_precision_config("bad_mixed")


def test_a_wrapper_that_fails_around_a_build_is_blamed_and_not_the_recipe(site: Any) -> None:
    site.recipe("acme", "acme_mixed")
    source = "def mp_build_recipe(name, factory):\n    yield\n    1 / 0\n"
    site.plugin("around", f"@hookimpl(wrapper=True)\n{source}")
    with pytest.raises(PluginError, match=r"^around 1\.0 \[hooks = around\] failed in mp_build"):
        get_mixed_precision_config("acme_mixed")


def test_a_hook_that_builds_nonsense_is_blamed_and_not_the_recipe(site: Any) -> None:
    site.recipe("acme", "acme_mixed")
    site.plugin("bad", "@hookimpl\ndef mp_build_recipe(name, factory):\n    return 3\n")
    with pytest.raises(PluginError, match=r"^bad 1\.0 \[hooks = bad\] failed in mp_build_recipe"):
        get_mixed_precision_config("acme_mixed")


def acme_registered() -> MixedPrecisionConfig:
    return MixedPrecisionConfig(fp8_margin=2)


def test_a_registered_factory_is_returned_unchanged_and_known_by_its_name(site: Any) -> None:
    assert register(acme_registered) is acme_registered
    assert register(acme_registered) is acme_registered
    assert get_mixed_precision_config("acme-registered").fp8_margin == 2
    assert "acme_registered" in mp_core.MIXED_PRECISION_RECIPES


def test_another_factory_of_a_registered_name_is_refused(site: Any) -> None:
    register(acme_registered)

    def other() -> MixedPrecisionConfig:
        return MixedPrecisionConfig()

    other.__name__ = "acme_registered"
    with pytest.raises(RecipeConflict, match=r"from an earlier register\(\)"):
        register(other)
    assert get_mixed_precision_config("acme_registered").fp8_margin == 2


def test_a_factory_of_an_installed_name_is_refused_with_its_distribution(site: Any) -> None:
    site.recipe("acme", "acme_registered")
    with pytest.raises(RecipeConflict, match="from acme"):
        register(acme_registered)


def test_a_plugin_may_also_register_the_function_that_its_entry_point_names(site: Any) -> None:
    source = factory("return MixedPrecisionConfig()").replace("def acme", "@register\ndef acme")
    site.recipe("acme", "acme_mixed", source)
    assert get_mixed_precision_config("acme_mixed").recipe == "acme_mixed"


def test_a_factory_without_a_usable_name_is_refused(site: Any) -> None:
    with pytest.raises(InvalidPrecision, match="register a named function"):
        register(lambda: acme_registered())  # noqa: PLW0108 # a function without a name


def test_a_factory_put_into_the_dict_is_a_recipe(site: Any) -> None:
    mp_core.MIXED_PRECISION_RECIPES["my-own"] = acme_registered
    config = get_mixed_precision_config("my_own")
    assert (config.fp8_margin, config.recipe) == (2, "my_own")


def test_a_registered_factory_that_fails_is_named_by_its_function(site: Any) -> None:
    @register
    def acme_failing() -> MixedPrecisionConfig:
        raise OSError("no disk")

    with pytest.raises(PluginError, match=r"acme_failing = .*acme_failing\].*\n.*OSError: no disk"):
        get_mixed_precision_config("acme_failing")


def test_a_derived_recipe_keeps_the_origin_of_every_value(site: Any) -> None:
    site.recipe("acme", "acme_mixed")
    site.recipe("more", "more_mixed", factory("return derive('acme-mixed', hysteresis=4)"))
    config = get_mixed_precision_config("more_mixed:fp8_wgrad=false")
    assert str(config.origin("fp8_margin")) == "base acme_mixed"
    assert str(config.origin("hysteresis")) == "recipe"
    assert str(config.origin("fp8_wgrad")) == "override"


def test_recipes_that_derive_from_each_other_are_an_error_and_no_hang(site: Any) -> None:
    site.recipe("one", "one_mixed", factory("return derive('two_mixed')"))
    site.recipe("two", "two_mixed", factory("return derive('one_mixed')"))
    with pytest.raises(PluginError, match="RecursionError"):
        get_mixed_precision_config("one_mixed")


def test_an_unknown_name_gets_the_closest(site: Any) -> None:
    site.recipe("acme", "acme_mixed")
    with pytest.raises(
        UnknownRecipe, match=r"no recipe 'acme_mixd'; did you mean 'acme_mixed'[?]$"
    ):
        get_mixed_precision_config("acme-mixd")
    with pytest.raises(ValueError, match="mp list shows"):
        get_mixed_precision_config("zzzzzzzz")


@pytest.fixture
def nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the distribution acme, whatever is installed here."""
    monkeypatch.setenv("MP_PLUGINS", "acme")


def missing(monkeypatch: pytest.MonkeyPatch, name: str) -> str:
    # Where the plugins are installed they are off, which is another sentence.
    monkeypatch.setattr(
        "mp_core.unknown.find", lambda: type("F", (), {"disabled": (), "problems": ()})
    )
    with pytest.raises((UnknownRecipe, PluginError)) as caught:
        get_mixed_precision_config(name)
    return str(caught.value)


def test_what_a_known_distribution_would_bring_gets_its_install_line(
    site: Any, nothing_else: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.recipe("acme", "acme_mixed", factory("return derive('fp16-mixed')"))
    assert missing(monkeypatch, "bf16-mixed").endswith("pip install mp-plugin-half")
    said = missing(monkeypatch, "bf16_with_mxfp8_mixd")
    assert "did you mean 'bf16_with_mxfp8_mixed'?" in said
    assert said.endswith("pip install mp-plugin-mxfp8")


def test_a_base_that_is_missing_names_who_needs_it_and_what_to_install(
    site: Any, nothing_else: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.recipe("acme", "acme_mixed", factory("return derive('fp16-mixed')"))
    said = missing(monkeypatch, "acme_mixed")
    assert "acme 1.0 [acme_mixed = acme:acme_mixed]" in said
    assert "pip install mp-plugin-half" in said


def test_a_recipe_that_the_environment_switches_off_says_so(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.recipe("acme", "acme-mixed")
    monkeypatch.setenv("MP_DISABLE_PLUGINS", "acme")
    with pytest.raises(
        UnknownRecipe, match=r"comes from acme 1\.0, which the environment switches"
    ):
        get_mixed_precision_config("acme_mixed")


def test_a_distribution_that_is_there_but_broken_is_not_recommended(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.distribution("mp-plugin-half", "9.9", recipes={"bf16_mixed": "no target"})
    with pytest.raises(UnknownRecipe) as caught:
        get_mixed_precision_config("bf16_mixed")
    assert "pip install" not in str(caught.value)
    assert "mp-plugin-half 9.9 [bf16_mixed]: its target 'no target'" in str(caught.value)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_process_sees_the_same_recipes(site: Any, method: str) -> None:
    site.recipe("acme", "acme_mixed")
    code = f"""
import multiprocessing, mp_core
def names():
    import mp_core
    return sorted(mp_core.MIXED_PRECISION_RECIPES), mp_core.get_mixed_precision_config("acme_mixed")
if __name__ == "__main__":
    mine = names()
    with multiprocessing.get_context({method!r}).Pool(1) as pool:
        assert pool.apply(names) == mine
    print("same")
"""
    printed = site.python(str(site.write("workers.py", code)))
    assert printed.stdout == "same\n", printed.stderr


def test_a_recipe_is_plain_data(site: Any) -> None:
    import pickle

    site.recipe("acme", "acme_mixed")
    book = recipe_book()
    copied = pickle.loads(pickle.dumps(book["acme_mixed"]))  # noqa: S301 # written a moment ago
    assert copied == book["acme_mixed"]
    assert isinstance(book, RecipeBook)


@pytest.mark.skipif(not PROJECTS.is_dir(), reason="the plugins' projects are not beside the tests")
def test_the_catalogue_equals_the_plugins_own_metadata() -> None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    offered = {}
    for project in sorted(PROJECTS.glob("*/pyproject.toml")):
        data = tomllib.loads(project.read_text())["project"]
        names = data.get("entry-points", {}).get("mp_core.recipes", {})
        if names:
            offered[data["name"]] = tuple(sorted(names))
    assert offered == CATALOGUE
