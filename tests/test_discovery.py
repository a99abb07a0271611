"""What is found in metadata, whatever state it is in."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import importlib_metadata
import pytest

from mp_core.discovery import Entry, Problem, find

RECIPE = {"acme_mixed": "acme:acme_mixed"}


def entries(*distributions: str) -> list[Entry]:
    return [entry for entry in find().entries if entry.distribution in distributions]


def only_problem() -> Problem:
    (problem,) = find().problems
    return problem


def test_an_entry_names_its_distribution_version_and_target(site: Any) -> None:
    site.distribution("Acme.Recipes", "2.0", recipes=RECIPE)
    (entry,) = entries("acme-recipes")
    assert entry.display == "acme-recipes 2.0 [acme_mixed = acme:acme_mixed]"
    assert find().problems == ()


def test_entries_are_sorted_and_equal_importlib_metadatas(site: Any) -> None:
    site.distribution("zeta", recipes={"b": "z:b", "a": "z:a"}, plugins={"zeta": "z.hooks"})
    site.distribution("acme", recipes=RECIPE, commands={"acme": "acme.cli:command"})
    ours = [(entry.group, entry.name, entry.target) for entry in find().entries]
    theirs = [
        (point.group, point.name, point.value)
        for point in importlib_metadata.entry_points()
        if point.group.startswith("mp_core.")
    ]
    assert sorted(ours) == sorted(theirs)
    assert list(find().entries) == sorted(find().entries)


def test_a_description_as_long_as_a_book_is_not_taken_for_a_header(site: Any) -> None:
    info = site.distribution("acme", recipes=RECIPE)
    text = "Metadata-Version: 2.1\r\nname:acme\r\nVersion: 3\r\n\r\nName: other\r\nVersion: 4\r\n"
    (info / "METADATA").write_text(text)
    assert [(e.distribution, e.version) for e in entries("acme", "other")] == [("acme", "3")]


def test_an_empty_dist_info_beside_a_good_one_hides_nothing(site: Any) -> None:
    (site.folder / "acme-0.1.dist-info").mkdir()
    site.distribution("acme", recipes=RECIPE)
    assert len(entries("acme")) == 1
    assert find().problems == ()


def test_a_nameless_dist_info_costs_itself_and_is_named_by_its_path(site: Any) -> None:
    info = site.distribution("bad", "1.0", recipes={"bad_mixed": "bad:bad"})
    (info / "METADATA").write_text("Metadata-Version: 2.1\n")
    site.distribution("acme", recipes=RECIPE)
    assert only_problem()[:2] == ("bad", "1.0")
    assert str(info) in only_problem().cause
    assert entries("acme")
    assert not entries("bad")


def test_a_dist_info_without_its_metadata_costs_itself(site: Any) -> None:
    (site.distribution("bad", recipes={"bad_mixed": "bad:bad"}) / "METADATA").unlink()
    assert only_problem().distribution == "bad"


def test_terminal_escapes_in_a_distributions_name_are_never_printed(site: Any) -> None:
    info = site.distribution("bad", recipes={"bad_mixed": "bad:bad"})
    (info / "METADATA").write_text("Name: b\x1b[2Jad\nVersion: 1\n")
    assert "\x1b" not in str(only_problem())
    assert r"\x1b" in str(only_problem())


def test_a_line_without_a_key_in_an_unrelated_distribution_changes_nothing(site: Any) -> None:
    site.write("other-1.dist-info/entry_points.txt", "[console_scripts]\nno key here\n")
    site.distribution("acme", recipes=RECIPE)
    assert entries("acme")
    assert find().problems == ()


def test_a_line_without_a_key_in_a_plugin_costs_that_line(site: Any) -> None:
    info = site.distribution("acme", recipes=RECIPE)
    with (info / "entry_points.txt").open("a") as file:
        file.write("no key here\n")
    assert [entry.name for entry in entries("acme")] == ["acme_mixed"]
    assert only_problem()[:3] == ("acme", "1.0", "'no key here'")


def test_a_misspelt_group_is_a_problem_with_the_closest(site: Any) -> None:
    site.distribution("acme", recipe=RECIPE)
    assert not entries("acme")
    assert "did you mean 'mp_core.recipes'?" in only_problem().cause


def test_an_entry_points_file_that_is_not_utf_8_costs_itself(site: Any) -> None:
    site.write("bad-1.0.dist-info/entry_points.txt", b"[mp_core.recipes]\n\xff = bad:bad\n")
    site.distribution("acme", recipes=RECIPE)
    assert entries("acme")
    assert only_problem()[:2] == ("bad", "1.0")
    assert "UnicodeDecodeError" in only_problem().cause


def test_a_leftover_of_pip_is_a_problem_that_says_what_to_do(site: Any) -> None:
    site.distribution("acme", "2.0", recipes=RECIPE)
    old = site.distribution("acme", "1.0", recipes={"old_mixed": "acme:old"})
    old.rename(old.with_name("~cme-1.0.dist-info"))
    site.write("~cme-1.0.dist-info/INSTALLER", "pip")
    assert [entry.name for entry in entries("acme")] == ["acme_mixed"]
    assert "remove it" in only_problem().cause


def test_dist_info_and_egg_info_of_one_project_are_one(site: Any) -> None:
    site.distribution("acme", recipes=RECIPE)
    site.write("acme.egg-info/PKG-INFO", "Name: acme\nVersion: 1.0\n")
    site.write("acme.egg-info/entry_points.txt", "[mp_core.recipes]\nacme_mixed=acme:acme_mixed\n")
    assert len(entries("acme")) == 1
    assert find().problems == ()


def test_a_directory_twice_on_the_path_is_read_as_one(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.distribution("acme", recipes=RECIPE)
    monkeypatch.setattr(sys, "path", [str(site.folder), *sys.path, str(site.folder)])
    assert len(entries("acme")) == 1
    assert find().problems == ()


@pytest.mark.parametrize(("first", "second"), [("1.0", "2.0"), ("2.0", "1.0")])
def test_of_two_versions_on_the_path_the_first_is_used_and_the_other_named(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    later = type(site)(tmp_path / "later")
    later.distribution("acme", second, recipes={"stale_mixed": "acme:stale"})
    site.distribution("acme", first, recipes=RECIPE)
    monkeypatch.setattr(sys, "path", [*sys.path, str(later.folder)])
    assert [(e.name, e.version) for e in entries("acme")] == [("acme_mixed", first)]
    assert only_problem()[:2] == ("acme", second)
    assert f"hidden by version {first}" in only_problem().cause


def test_a_version_that_offers_nothing_hides_a_later_one_that_an_import_would_not_find(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = type(site)(tmp_path / "later")
    later.distribution("acme", "1.0", recipes=RECIPE)
    site.distribution("acme", "2.0")
    monkeypatch.setattr(sys, "path", [*sys.path, str(later.folder)])
    assert not entries("acme")
    assert "hidden by version 2.0" in only_problem().cause


@pytest.mark.parametrize(
    ("older", "newer"), [("9.0", "10.0"), ("1.0rc1", "1.0"), ("1.0.dev3", "1.0a1"), ("1", "1.0.1")]
)
def test_of_two_versions_in_one_directory_the_newer_is_used(
    site: Any, older: str, newer: str
) -> None:
    for version in (older, newer):
        site.distribution("acme", version, recipes={"acme_mixed": f"acme:v{version[0]}"})
    assert [entry.version for entry in entries("acme")] == [newer]
    assert only_problem().version == older


def test_a_name_given_twice_in_one_file_keeps_the_first_and_names_the_second(site: Any) -> None:
    text = "[mp_core.recipes]\nacme_mixed = acme:one\nacme-mixed = acme:two\nb = acme:b\n"
    (site.distribution("acme") / "entry_points.txt").write_text(text)
    assert [(e.name, e.target) for e in entries("acme")] == [
        ("acme_mixed", "acme:one"),
        ("b", "acme:b"),
    ]
    assert only_problem().entry_point == "acme-mixed"
    assert "acme:one" in only_problem().cause
    assert "acme:two" in only_problem().cause


@pytest.mark.parametrize(
    "target", ["acme.recipes.acme", "acme:", ":acme", "acme recipes:x", "acme:x [extra]", "a;b:c"]
)
def test_a_bad_target_costs_its_entry_and_is_quoted(site: Any, target: str) -> None:
    site.distribution("acme", "2.0", recipes={"bad": target, "good": "acme:good"})
    assert [entry.name for entry in entries("acme")] == ["good"]
    assert only_problem()[:3] == ("acme", "2.0", "bad")
    assert repr(target) in only_problem().cause


def test_hooks_may_be_a_module_or_an_object_in_one(site: Any) -> None:
    site.distribution("acme", plugins={"a": "acme.hooks", "b": "acme.hooks:instance"})
    assert len(entries("acme")) == 2
    assert find().problems == ()


@pytest.mark.parametrize("name", ["a@b", "a:b", "a b", "\x1b[31ma", "-a", "a\u202eb", "é", "a/b"])
def test_an_illegal_entry_name_costs_itself_and_is_printed_safely(site: Any, name: str) -> None:
    site.distribution("acme", recipes={name: "acme:x", "good": "acme:good"})
    assert [entry.name for entry in entries("acme")] == ["good"]
    assert only_problem().distribution == "acme"
    assert only_problem().entry_point.isprintable()


def test_every_layout_prints_json_without_a_traceback(site: Any) -> None:
    site.write("bad-1.0.dist-info/entry_points.txt", b"[mp_core.recipes]\n\xff\n")
    site.distribution("acme", recipes={"bad": "acme", **RECIPE})
    printed = site.python("-m", "mp_core", "list", "--json")
    listing = json.loads(printed.stdout)
    assert printed.returncode == 0
    assert printed.stderr == ""
    assert {problem["distribution"] for problem in listing["problems"]} == {"acme", "bad"}
    assert "acme_mixed" in [row["name"] for row in listing["recipes"]]


def test_listing_imports_neither_torch_nor_a_plugin(site: Any) -> None:
    site.recipe("mp-plugin-loud", "acme_mixed", "raise SystemExit('imported')")
    printed = site.python("-X", "importtime", "-m", "mp_core", "list")
    imported = {line.rpartition("|")[2].strip() for line in printed.stderr.splitlines()}
    assert "acme_mixed" in printed.stdout
    assert "mp_core.discovery" in imported
    packages = {name.partition(".")[0] for name in imported}
    assert not packages & {"torch", "megatron", "transformer_engine"}
    assert not [name for name in packages if name.startswith("mp_plugin_")]


def test_autoload_off_leaves_nothing(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    site.distribution("acme", recipes=RECIPE)
    monkeypatch.setenv("MP_PLUGIN_AUTOLOAD", "0")
    assert find().entries == ()
    assert "acme" in [entry.distribution for entry in find().disabled]


def test_a_value_of_autoload_that_is_neither_0_nor_1_is_said(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.distribution("acme", recipes=RECIPE)
    monkeypatch.setenv("MP_PLUGIN_AUTOLOAD", "off")
    assert entries("acme")
    assert "neither 0 nor 1" in only_problem().cause


@pytest.mark.parametrize("autoload", ["", "0", "1"])
def test_an_allow_list_admits_what_it_names_and_nothing_else(
    site: Any, monkeypatch: pytest.MonkeyPatch, autoload: str
) -> None:
    site.distribution("mp-plugin-a", recipes=RECIPE)
    site.distribution("mp-plugin-b", recipes=RECIPE)
    monkeypatch.setenv("MP_PLUGIN_AUTOLOAD", autoload)
    monkeypatch.setenv("MP_PLUGINS", "MP_Plugin.A, ")
    assert {entry.distribution for entry in find().entries} == {"mp-plugin-a"}


def test_a_deny_list_wins_over_the_allow_list(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    site.distribution("mp-plugin-a", recipes=RECIPE)
    site.distribution("mp-plugin-b", recipes=RECIPE)
    monkeypatch.setenv("MP_PLUGINS", "mp-plugin-a,mp-plugin-b")
    monkeypatch.setenv("MP_DISABLE_PLUGINS", "mp_plugin_b")
    assert {entry.distribution for entry in find().entries} == {"mp-plugin-a"}


@pytest.mark.parametrize("variable", ["MP_PLUGINS", "MP_DISABLE_PLUGINS"])
def test_a_variable_that_names_what_is_not_installed_is_said(
    site: Any, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    site.distribution("acme", recipes=RECIPE)
    monkeypatch.setenv(variable, "acmee")
    assert only_problem() == ("acmee", "", "", f"{variable} names it, but it is not installed")


def test_a_broken_distribution_that_is_switched_off_is_no_problem(
    site: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.distribution("bad", recipes={"bad": "no target"})
    monkeypatch.setenv("MP_DISABLE_PLUGINS", "bad")
    assert find().problems == ()


def test_a_distribution_installed_in_a_zip_is_found(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import zipfile

    archive = tmp_path / "acme.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("acme-1.0.dist-info/METADATA", "Name: acme\nVersion: 1.0\n")
        file.writestr("acme-1.0.dist-info/entry_points.txt", "[mp_core.recipes]\na = acme:a\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(archive)])
    assert [entry.name for entry in entries("acme")] == ["a"]
