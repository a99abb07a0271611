"""Writing Megatron's per-module precision file from recipes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mp_core import InvalidPrecision, MixedPrecisionConfig, get_mixed_precision_config
from mp_core.errors import closest
from mp_core.releases import at_least
from mp_plugin_megatron.precision.file import (
    FILE_SINCE,
    FORMATS,
    FP4_RECIPES,
    FP8_RECIPES,
    PARAM_SINCE,
    PARAMS,
    TRAINING,
    TYPE,
    quantization,
    storage,
)

MODES = ("bf16", "fp16", "fp32")


def entry(
    config: MixedPrecisionConfig, megatron_core: str, base: MixedPrecisionConfig | None = None
) -> dict[str, Any]:
    """Return the file's entry for a recipe, with the keys that the given megatron-core has.

    base: the recipe of the run, which decides how weights are stored and whether an autocast is
    open; None: *config* itself. Raises InvalidPrecision for what an entry cannot say.
    """
    base = config if base is None else base
    family, kind = ("fp8" if config.fp8 else "fp4"), quantization(config)
    recipe: dict[str, Any] = {}
    if kind:
        recipe[f"{family}_quantization_recipe"] = _expressible(config, kind)
        if config.fp8:
            recipe["fp8_format"] = config.fp8
        if not quantization(base):
            recipe["override_nonquantized_autocast"] = True
        if storage(config) and storage(config) == storage(base) and _has_param(megatron_core):
            recipe[f"{family}_param"] = True
    return {TYPE: PARAMS, TRAINING: recipe}


def written(base: str, layers: Mapping[str, str], megatron_core: str) -> str:
    """Return the file's text: *base* is the run's recipe, *layers* gives recipes by glob in order.

    What no glob matches follows the base recipe. Raises InvalidPrecision for no glob at all, for
    a megatron-core without such a file, and for a recipe that an entry cannot say.
    """
    import yaml

    if not layers:
        raise InvalidPrecision("no pattern is given; write for example *linear_fc2=bf16_mixed")
    if at_least(megatron_core, FILE_SINCE) is False:
        message = f"megatron-core {megatron_core} reads no such file for Transformer Engine"
        raise InvalidPrecision(f"{message}; use {FILE_SINCE} or later")
    of_run = get_mixed_precision_config(base)
    configs = {name: _layer(name, base, of_run, megatron_core) for name in layers.values()}
    matchers = {
        glob: {"config": name, "type": "glob", "pattern": glob, "enabled": True}
        for glob, name in layers.items()
    }
    head = (
        f"# Precision by module for megatron-core {megatron_core}: --te-precision-config-file.\n"
        "# The first pattern that fits a module decides; what none fits follows the recipe\n"
        f"# {base}\n"
    )
    return head + yaml.safe_dump({"configs": configs, "matchers": matchers}, sort_keys=False)


def _layer(name: str, base: str, of_run: MixedPrecisionConfig, version: str) -> dict[str, Any]:
    config = get_mixed_precision_config(name)
    mode = next((each for each in MODES if getattr(of_run, each)), None)
    if mode and not getattr(config, mode):
        message = f"{name} is no {mode} recipe, and {base} is: a run has one base mode"
        raise InvalidPrecision(f"{message}; use a {mode} recipe for the pattern")
    try:
        return entry(config, version, of_run)
    except InvalidPrecision as error:
        raise InvalidPrecision(f"{name}: {error}") from None


def _expressible(config: MixedPrecisionConfig, kind: str) -> str:
    if kind == "delayed":
        message = "Megatron refuses delayed scaling in this file"
        raise InvalidPrecision(f"{message}; use a recipe of current scaling")
    known = [each for each in (FP8_RECIPES if config.fp8 else FP4_RECIPES) if each != "custom"]
    if kind not in known:
        message = f"the file has no recipe {kind!r}{closest(kind, known)}"
        raise InvalidPrecision(f"{message}; legal: {', '.join(known)}")
    if config.fp8 and config.fp8 not in FORMATS:
        raise InvalidPrecision(f"fp8={config.fp8!r} in this file; legal: {', '.join(FORMATS)}")
    return kind


def _has_param(megatron_core: str) -> bool:
    # A pre-release of the first version may lack the key, and would refuse it.
    return bool(at_least(megatron_core, PARAM_SINCE))
