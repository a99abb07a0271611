"""Megatron's per-module precision file: written, read, checked, and taken by Megatron itself."""

from __future__ import annotations

import dataclasses
import itertools
import json
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner, Result

from mp_core import (
    Finding,
    InvalidPrecision,
    MixedPrecisionConfig,
    Situation,
    get_mixed_precision_config,
)
from mp_core.recipes import recipe_book
from mp_core.releases import at_least
from mp_plugin_megatron.hooks import mp_rules
from mp_plugin_megatron.precision.command import command
from mp_plugin_megatron.precision.file import (
    FILE_SINCE,
    FRESH_SINCE,
    PARAM_SINCE,
    Entry,
    LayerRecipe,
    Matcher,
    recipes,
)
from mp_plugin_megatron.precision.matching import covers
from mp_plugin_megatron.precision.reading import parse, read
from mp_plugin_megatron.precision.rules import RULES, check_file
from mp_plugin_megatron.precision.writing import entry, written
from mp_plugin_megatron.versions import installed_version

RECIPES: dict[str, dict[str, Any]] = {
    "own_bf16": {},
    "own_tensor": {"fp8": "hybrid", "fp8_recipe": "tensorwise"},
    "own_mxfp8": {"fp8": "e4m3", "fp8_recipe": "mxfp8"},
    "own_mxfp8_stored": {"fp8": "e4m3", "fp8_recipe": "mxfp8", "fp8_param_gather": True},
    "own_nvfp4": {"fp4": "e2m1"},
    "own_delayed": {"fp8": "hybrid", "fp8_recipe": "delayed"},
}
MODULE = "decoder.layers.0.mlp.linear_fc2"
LAYERS = {"*layers.0.*": "own_bf16", "*linear_fc?": "own_mxfp8", "*linear_qkv": "own_nvfp4"}
NEWEST = "0.19.2"
CACHE = "disable_parameter_transpose_cache"
#: The smallest file, of which each test changes one thing.
ENTRY = "{transformer_engine_config_type: TEQuantizationParams, training_recipe: %s}"
FILE = (
    "configs: {a: " + ENTRY + "}\n"
    "matchers: {m: {config: a, type: glob, pattern: '*fc2', enabled: true}}\n"
)


@pytest.fixture(autouse=True)
def _recipes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, values in RECIPES.items():
        make = partial(MixedPrecisionConfig, bf16=True, **values)
        monkeypatch.setitem(recipe_book(), name, make)


def config(name: str, **values: Any) -> MixedPrecisionConfig:
    return get_mixed_precision_config(name, **values)


def training(**values: Any) -> str:
    return FILE % json.dumps(values)


def found(
    base: str | MixedPrecisionConfig, text: str, megatron_core: str | None = NEWEST, **facts: Any
) -> list[Finding]:
    given = {"megatron_core": megatron_core, **facts} if megatron_core else facts
    of_run = config(base) if isinstance(base, str) else base
    return list(check_file(of_run, parse("layers.yaml", text), Situation(given)))


def told(*args: Any, **facts: Any) -> set[tuple[str, str]]:
    return {(finding.code, finding.severity) for finding in found(*args, **facts)}


def refused(text: str) -> str:
    with pytest.raises(InvalidPrecision) as error:
        parse("layers.yaml", text)
    return str(error.value)


def test_what_is_written_reads_back_in_the_order_in_which_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "layers.yaml"
    path.write_text(written("own_tensor", LAYERS, NEWEST), encoding="utf-8")
    file = read(path)
    assert file.matchers == tuple(Matcher(g, n, g, enabled=True) for g, n in LAYERS.items())
    assert file.configs == {
        "own_bf16": Entry(LayerRecipe()),
        "own_mxfp8": Entry(LayerRecipe(fp8_quantization_recipe="mxfp8")),
        "own_nvfp4": Entry(LayerRecipe(fp4_quantization_recipe="nvfp4")),
    }


def test_the_text_says_of_which_recipe_and_version_it_is_and_has_no_pattern_for_all() -> None:
    text = written("own_tensor", LAYERS, NEWEST)
    head = [line for line in text.splitlines() if line.startswith("#")]
    assert "megatron-core 0.19.2" in head[0]
    assert head[-1] == "# own_tensor"
    assert [m.pattern for m in parse("f", text).matchers] == list(LAYERS)


def test_an_entry_over_a_recipe_that_does_not_quantize_opens_the_autocast_itself() -> None:
    opened = parse("f", written("own_bf16", LAYERS, NEWEST)).configs
    assert {name: each.training.opens for name, each in opened.items()} == {
        "own_bf16": False,
        "own_mxfp8": True,
        "own_nvfp4": True,
    }
    closed = parse("f", written("own_tensor", LAYERS, NEWEST)).configs
    assert not any(each.training.opens for each in closed.values())


@pytest.mark.parametrize(
    ("base", "version", "stored"),
    [
        ("own_mxfp8_stored", PARAM_SINCE, True),
        ("own_mxfp8_stored", "0.17.1", None),
        ("own_mxfp8_stored", "0.18.0rc1", None),
        ("own_mxfp8", PARAM_SINCE, None),
        ("own_bf16", PARAM_SINCE, None),
    ],
)
def test_an_entry_stores_weights_as_the_run_does_where_the_version_has_the_key(
    base: str, version: str, stored: bool | None
) -> None:
    recipe = entry(config("own_mxfp8_stored"), version, config(base))["training_recipe"]
    assert recipe.get("fp8_param") is stored


@pytest.mark.parametrize(
    ("base", "layers", "version", "said"),
    [
        ("own_bf16", {"*": "own_delayed"}, NEWEST, "own_delayed: Megatron refuses delayed scaling"),
        ("own_bf16", {}, NEWEST, "no pattern is given"),
        ("own_bf16", {"*": "own_mxfp8"}, "0.15.3", "megatron-core 0.15.3 reads no such file"),
        ("own_bf16", {"*": "own_mxfp8"}, "new", "'new' is not a version"),
        ("own_bf16:bf16=false,fp16=true", {"*": "own_mxfp8"}, NEWEST, "own_mxfp8 is no fp16"),
        ("own_bf16", {"*": "own_mxfp9"}, NEWEST, "own_mxfp9"),
    ],
)
def test_what_a_file_cannot_say_is_not_written(
    base: str, layers: dict[str, str], version: str, said: str
) -> None:
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        written(base, layers, version)


def test_a_vendors_recipe_is_named_and_not_written() -> None:
    own = MixedPrecisionConfig(bf16=True, fp8="e4m3", fp8_recipe="mxfp9")
    with pytest.raises(InvalidPrecision, match="no recipe 'mxfp9'; did you mean 'mxfp8'"):
        entry(own, NEWEST)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("configs: [", "layers.yaml: it is not YAML"),
        ("[]", "the file is []; legal: a mapping with configs, matchers"),
        ("configs: {}", "the file lacks 'matchers'; add it"),
        ("config: {}\nmatchers: {}", "the file has no key 'config'; did you mean 'configs'?"),
        ("configs: {}\nmatchers: {}", "configs is {}; legal: a mapping of one name or more"),
        (training(fp8_recipe="mxfp8"), "configs.a.training_recipe has no key 'fp8_recipe'"),
        (training(fp8_parm=True), "no key 'fp8_parm'; did you mean 'fp8_param'?"),
        (training(fp8_quantization_recipe="delayed"), "'delayed', which Megatron refuses"),
        (training(fp8_quantization_recipe="mxfp9"), "'mxfp9'; did you mean 'mxfp8'?; legal: block"),
        (training(fp4_quantization_recipe="mxfp8"), "legal: custom, nvfp4, null"),
        (training(fp8_format="e5m2"), "fp8_format is 'e5m2'"),
        (training(fp8_param="yes"), "fp8_param is 'yes'; legal: false, true"),
        (training(tp_only_amax_red=1), "tp_only_amax_red is 1; legal: false, true"),
        (training(custom_recipe_factory=1), "custom_recipe_factory is 1; legal: text"),
        (training(fp8_quantization_recipe="custom"), "is custom; add custom_recipe_factory"),
        (
            training(fp8_quantization_recipe="mxfp8", fp4_quantization_recipe="nvfp4"),
            "has both FP8 and FP4",
        ),
        (training().replace("TEQuantizationParams", "QLinearParams"), "legal: TEQuantizationParam"),
        (training().replace("{}", "null", 1), "training_recipe is None; legal: a mapping"),
        (training().replace("glob", "regex"), "matchers.m.type is 'regex'; legal: glob"),
        (training().replace("'*fc2'", "''"), "matchers.m.pattern is ''; legal: text"),
        (training().replace("enabled: true", "enabled: 'off'"), "enabled is 'off'; legal: true"),
        (training().replace("type: glob, ", ""), "matchers.m lacks 'type'; add it"),
        (training().replace("config: a", "config: b"), "names no config of the file: 'b'"),
        (training().replace("{m:", "{m: 3, n:"), "matchers.m is 3; legal: a mapping"),
    ],
)
def test_what_megatron_would_not_take_is_refused_with_what_to_write(text: str, said: str) -> None:
    assert said in refused(text)


def test_a_file_that_is_missing_or_no_text_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidPrecision, match=r"absent.yaml cannot be read: No such file"):
        read(tmp_path / "absent.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidPrecision, match=r"bytes.yaml is binary"):
        read(tmp_path / "bytes.yaml")


def test_an_evaluation_recipe_is_read_and_checked_too() -> None:
    text = FILE % "{}, evaluation_recipe: {fp8_quantization_recipe: mxfp8}"
    evaluation = parse("f", text).configs["a"].evaluation
    assert evaluation == LayerRecipe(fp8_quantization_recipe="mxfp8")
    assert "evaluation_recipe.fp8_format" in refused(
        FILE % "{}, evaluation_recipe: {fp8_format: 1}"
    )


def test_the_recipes_of_a_file_are_configs_over_the_base_mode_that_are_legal() -> None:
    file = parse("f", written("own_bf16", LAYERS, NEWEST))
    made = recipes(file, config("own_bf16"))
    kinds = {name: (each.fp8_recipe, each.fp8, each.fp4) for name, each in made.items()}
    assert kinds == {
        "own_mxfp8": ("mxfp8", "e4m3", None),
        "own_nvfp4": ("delayed", None, "e2m1"),
    }
    for each in made.values():
        each.validate()
        assert each.bf16


MXFP8 = training(fp8_quantization_recipe="mxfp8")
NVFP4 = training(fp4_quantization_recipe="nvfp4")
OPENED = training(fp8_quantization_recipe="mxfp8", override_nonquantized_autocast=True)
PARAM = training(fp8_quantization_recipe="mxfp8", fp8_param=True)
KEEPS = training(fp8_quantization_recipe="mxfp8", override_quantized_autocast=False)
ENDS = "own_tensor:first_last_layers_bf16=true,num_layers_at_start_in_bf16=1"
FIRST = MXFP8.replace("*fc2", "*layers.0.*")
AFTER = "n: {config: a, type: glob, pattern: '*mlp.*fc2', enabled: true}}"
TWO = MXFP8.rstrip()[:-1] + ", " + AFTER
ONE_STAGE = {"pipeline_model_parallel_size": 1}


@pytest.mark.parametrize(
    ("code", "severity", "base", "text", "facts"),
    [
        ("MG401", "error", "own_tensor", MXFP8, {"megatron_core": "0.15.3"}),
        ("MG401", "unknown", "own_tensor", MXFP8, {"megatron_core": None}),
        ("MG401", "unknown", "own_tensor", MXFP8, {"megatron_core": "0.16.0rc1"}),
        ("MG402", "error", "own_mxfp8_stored", PARAM, {"megatron_core": "0.17.1"}),
        ("MG402", "unknown", "own_mxfp8_stored", PARAM, {"megatron_core": None}),
        ("MG403", "error", "own_bf16", OPENED, {"megatron_core": "0.18.2"}),
        ("MG403", "unknown", "own_bf16", OPENED, {"megatron_core": None}),
        ("MG404", "error", "own_bf16", MXFP8, {}),
        ("MG404", "note", ENDS, MXFP8, {}),
        ("MG405", "warning", "own_tensor", KEEPS, {}),
        ("MG406", "error", "own_mxfp8_stored", NVFP4, {}),
        ("MG406", "warning", "own_mxfp8_stored", training(), {}),
        ("MG406", "warning", "own_mxfp8", PARAM, {}),
        ("MG406", "warning", "own_mxfp8", PARAM, {"is_hybrid_model": True}),
        ("MG411", "warning", "own_tensor", TWO, {}),
        ("MG412", "warning", "own_tensor", MXFP8.replace(", enabled: true", ""), {}),
        ("MG412", "note", "own_tensor", MXFP8.replace("true", "false"), {}),
        ("MG413", "warning", "own_tensor", FIRST, {"pipeline_model_parallel_size": 4}),
        ("MG413", "unknown", "own_tensor", FIRST, {}),
        ("MG414", "note", "own_mxfp8", MXFP8, {}),
        ("MG414", "note", "own_bf16", training(), {}),
    ],
)
def test_a_contradiction_is_found(
    code: str, severity: str, base: str, text: str, facts: dict[str, Any]
) -> None:
    assert (code, severity) in told(base, text, **facts)


@pytest.mark.parametrize(
    ("code", "base", "text", "facts"),
    [
        ("MG401", "own_tensor", MXFP8, {"megatron_core": FILE_SINCE}),
        ("MG402", "own_mxfp8_stored", PARAM, {"megatron_core": PARAM_SINCE}),
        ("MG402", "own_mxfp8_stored", MXFP8, {"megatron_core": "0.17.1"}),
        ("MG403", "own_bf16", OPENED, {"megatron_core": FRESH_SINCE}),
        ("MG403", "own_bf16", OPENED, {"megatron_core": "0.18.2", CACHE: True}),
        ("MG403", "own_tensor", OPENED, {"megatron_core": "0.18.2"}),
        ("MG403", "own_bf16", training(), {"megatron_core": "0.18.2"}),
        ("MG404", "own_bf16", OPENED, {}),
        ("MG404", "own_bf16", training(), {}),
        ("MG404", ENDS, OPENED, {}),
        ("MG404", "own_tensor", MXFP8, {}),
        ("MG405", "own_tensor", MXFP8, {}),
        ("MG405", "own_bf16", KEEPS, {}),
        ("MG406", "own_mxfp8_stored", MXFP8, {}),
        ("MG406", "own_mxfp8", NVFP4, {}),
        ("MG406", "own_mxfp8_stored", NVFP4, {"hybrid_override_pattern": "M-M-"}),
        ("MG406", "own_mxfp8_stored", KEEPS.replace("mxfp8", "tensorwise"), {}),
        ("MG411", "own_tensor", TWO.replace("'*fc2'", "'*fc1'"), {}),
        ("MG411", "own_tensor", TWO.replace("true", "false", 1), {}),
        ("MG412", "own_tensor", MXFP8, {}),
        ("MG413", "own_tensor", FIRST, ONE_STAGE),
        ("MG413", "own_tensor", MXFP8, {}),
        ("MG414", "own_tensor", MXFP8, {}),
        ("MG414", "own_mxfp8:fp8=hybrid", MXFP8, {}),
        ("MG414", ENDS.replace("own_tensor", "own_mxfp8"), OPENED, {}),
    ],
)
def test_what_is_no_contradiction_is_not_found(
    code: str, base: str, text: str, facts: dict[str, Any]
) -> None:
    assert code not in {found_code for found_code, _ in told(base, text, **facts)}


def test_an_entry_that_keeps_modules_from_a_later_one_is_not_idle() -> None:
    layers = {"*layers.0.*": "own_mxfp8", "*fc2": "own_bf16"}
    assert ("MG414", "note") not in told("own_mxfp8", written("own_mxfp8", layers, NEWEST))
    turned = dict(reversed(layers.items()))
    assert ("MG414", "note") in told("own_mxfp8", written("own_mxfp8", turned, NEWEST))


def test_a_file_that_is_ignored_is_not_checked_further() -> None:
    assert told("own_bf16", MXFP8, "0.15.3") == {("MG401", "error")}


def test_a_config_that_no_matcher_picks_is_not_checked() -> None:
    text = KEEPS.replace("enabled: true", "enabled: false")
    assert told("own_tensor", text) == {("MG412", "note")}


def test_no_two_rules_of_this_plugin_have_one_code() -> None:
    codes = [rule.code for rule in {*RULES, *mp_rules()}]
    assert sorted(codes) == sorted(set(codes))


def test_a_pattern_covers_another_only_where_it_fits_all_that_the_other_fits() -> None:
    patterns = ["".join(p) for n in (1, 2, 3) for p in itertools.product("ab*?", repeat=n)]
    patterns += ["[ab]", "*[ab]", "a[ab]*", "[!a]*", "*]", "a]"]
    words = ["".join(w) for n in range(5) for w in itertools.product("ab]", repeat=n)]
    fits = {p: {w for w in words if fnmatchcase(w, p)} for p in patterns}
    wrong = [(e, p) for e in patterns for p in patterns if covers(e, p) and not fits[p] <= fits[e]]
    assert wrong == []
    assert covers("*", "[ab]")
    assert covers("*mlp*", "decoder.*.mlp.linear_fc?")
    assert not covers("*fc1", "*fc?")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, arguments)


def test_the_command_writes_to_a_new_file_what_it_prints_without_one(tmp_path: Path) -> None:
    path = tmp_path / "layers.yaml"
    arguments = ("own_tensor", "*fc2=own_mxfp8", "--mcore", NEWEST)
    printed = run(*arguments)
    assert printed.stdout == written("own_tensor", {"*fc2": "own_mxfp8"}, NEWEST)
    assert run(*arguments, "--output", str(path)).stdout == ""
    assert path.read_text(encoding="utf-8") == printed.stdout


def test_the_command_leaves_an_existing_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "layers.yaml"
    path.write_text("mine", encoding="utf-8")
    arguments = ("own_tensor", "*fc2=own_mxfp8", "--mcore", NEWEST, "--output")
    assert "exists: remove it" in str(run(*arguments, str(path)).exception)
    assert path.read_text(encoding="utf-8") == "mine"
    nowhere = str(tmp_path / "absent" / "layers.yaml")
    assert "cannot be written: No such file" in str(run(*arguments, nowhere).exception)


def test_the_command_writes_for_the_installed_version_where_none_is_given() -> None:
    result = run("own_tensor", "*fc2=own_mxfp8")
    said = result.stdout if at_least(installed_version(), FILE_SINCE) else str(result.exception)
    # Megatron-Core's own __version__ may end with the commit of the repository around it.
    assert f"megatron-core {metadata.version('megatron-core')}" in said


def test_the_command_says_what_stands_against_the_file_that_it_writes() -> None:
    result = run("own_bf16", "*fc2=own_mxfp8", "--mcore", "0.18.2")
    assert "mp: MG403 error" in result.stderr
    rows = json.loads(run("own_bf16", "*fc2=own_mxfp8", "--mcore", "0.18.2", "--json").stdout)
    assert [row["code"] for row in rows["findings"]] == ["MG403"]


@pytest.mark.parametrize("pair", ["*fc2", "=own_mxfp8", "*fc2="])
def test_the_command_refuses_what_is_no_pair(pair: str) -> None:
    assert "is not GLOB=RECIPE" in str(run("own_bf16", pair).exception)


def test_the_command_checks_a_file_and_fails_where_a_finding_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "layers.yaml"
    path.write_text(MXFP8, encoding="utf-8")
    options = ("--check", str(path), "--mcore", NEWEST, "--gpu", "b200")
    bad, good = run("own_bf16", *options), run("own_tensor", *options)
    assert (bad.exit_code, good.exit_code) == (1, 0)
    assert "MG404 error" in bad.stdout
    rows = json.loads(run("own_bf16", *options, "--json").stdout)
    assert rows["file"] == "layers.yaml"
    assert "MG404" in {row["code"] for row in rows["findings"]}
    assert run("own_bf16", "*=own_mxfp8", *options).exit_code == 2


def test_the_command_names_the_entry_whose_own_recipe_cannot_run_there(tmp_path: Path) -> None:
    path = tmp_path / "layers.yaml"
    path.write_text(MXFP8, encoding="utf-8")
    rows = json.loads(run("own_bf16", "--check", str(path), "--mcore", "0.11", "--json").stdout)
    assert any(row["message"].startswith("a: ") for row in rows["findings"])


def real(name: str) -> Any:
    """Return a module of the installed Megatron-Core, or skip where it has none."""
    why = f"megatron-core {installed_version()} has no {name}"
    return pytest.importorskip(f"megatron.core.{name}", reason=why)


def engine() -> Any:
    """Return Megatron's module on Transformer Engine, which needs none to parse a file."""
    if not at_least(installed_version(), FILE_SINCE):
        pytest.skip(f"megatron-core {installed_version()} reads no such file")
    return import_module("megatron.core.extensions.transformer_engine")


def path_of(tmp_path: Path, base: str = "own_bf16") -> str:
    path = tmp_path / "layers.yaml"
    path.write_text(written(base, LAYERS, max(installed_version(), FILE_SINCE)), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("module", "picked"),
    [
        (MODULE, "own_bf16"),
        ("decoder.layers.1.mlp.linear_fc2", "own_mxfp8"),
        ("decoder.layers.10.mlp.experts.linear_fc1", "own_mxfp8"),
        ("decoder.layers.1.self_attention.linear_qkv", "own_nvfp4"),
        ("decoder.layers.1.self_attention.linear_proj", None),
        ("output_layer", None),
    ],
)
def test_megatron_picks_the_entry_that_the_patterns_say(
    module: str, picked: str | None, tmp_path: Path
) -> None:
    quantization = real("quantization.quant_config")
    loaded = quantization.RecipeConfig.from_yaml_file(path_of(tmp_path))
    context = quantization.MatchContext(module_path=module, layer_number=None)
    assert loaded.match_to_config_key(context) == picked


def test_megatron_parses_each_entry_to_what_is_read_here(tmp_path: Path) -> None:
    params, path = engine().TEQuantizationParams, path_of(tmp_path)
    quantization = real("quantization.quant_config")
    loaded = quantization.RecipeConfig.from_yaml_file(path)
    for name, (training_recipe, _) in read(path).configs.items():
        context = quantization.MatchContext(module_path=MODULE, layer_number=0)
        given = quantization.QuantizationConfig(loaded.configs[name], context, name)
        parsed = dataclasses.asdict(params.parse_from_config(given).training_recipe)
        ours = {key: value for key, value in training_recipe._asdict().items() if key in parsed}
        # Megatron's own default of the two keys that may be absent.
        assert {key: value or False for key, value in ours.items()} == {
            key: value or False for key, value in parsed.items()
        }


def test_the_keys_of_an_entry_are_those_of_the_installed_megatron() -> None:
    fields = {field.name for field in dataclasses.fields(engine().TEQuantizationRecipe)}
    keys = set(LayerRecipe._fields)
    if not at_least(installed_version(), PARAM_SINCE):
        keys -= {"fp8_param", "fp4_param"}
    assert fields == keys


@pytest.mark.parametrize(
    "values",
    [
        {"fp8_quantization_recipe": "delayed"},
        {"fp8_quantization_recipe": "mxfp8", "fp4_quantization_recipe": "nvfp4"},
        {"fp8_quantization_recipe": "custom"},
        {"fp8_recipe": "mxfp8"},
    ],
)
def test_what_is_refused_here_megatron_refuses_too(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        engine().TEQuantizationRecipe.parse_from_config(values)
    assert refused(training(**values))


def test_weights_that_only_the_file_quantizes_are_refreshed_from_the_version_said_here(
    model: Any, tmp_path: Path
) -> None:
    engine()
    model.quant_recipe = real("quantization.quant_config").RecipeConfig.from_yaml_file(
        path_of(tmp_path)
    )
    module = real("transformer.module").MegatronModule(model)
    module.linear = torch.nn.Module()
    module.linear.is_first_microbatch = False
    module.set_is_first_microbatch()
    assert module.linear.is_first_microbatch is bool(at_least(installed_version(), FRESH_SINCE))
