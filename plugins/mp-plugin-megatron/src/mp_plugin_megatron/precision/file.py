"""Megatron's per-module precision file as data, and since which version it means what.

Its meaning stands in megatron-core, quantization/quant_config.py and
extensions/transformer_engine.py: the first enabled matcher whose pattern fits a module decides.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mp_core import MixedPrecisionConfig

#: Since when Transformer Engine's modules read the file; before, they ignore it.
FILE_SINCE = "0.16"
#: Since when an entry has fp8_param and fp4_param; before, they are refused.
PARAM_SINCE = "0.18"
#: The first version that quantizes changed weights again where only the file quantizes.
FRESH_SINCE = "0.19"
FP8_RECIPES = ("blockwise", "custom", "mxfp8", "tensorwise")
FP4_RECIPES = ("custom", "nvfp4")
FORMATS = ("e4m3", "hybrid")
TYPE = "transformer_engine_config_type"
PARAMS = "TEQuantizationParams"
TRAINING, EVALUATION = "training_recipe", "evaluation_recipe"


class LayerRecipe(NamedTuple):
    """The fields of Megatron's TEQuantizationRecipe; fp8_param and fp4_param: None where absent."""

    fp8_quantization_recipe: str | None = None
    fp4_quantization_recipe: str | None = None
    custom_recipe_factory: str | None = None
    fp8_format: str = "e4m3"
    override_quantized_autocast: bool = True
    override_nonquantized_autocast: bool = False
    tp_only_amax_red: bool = False
    fp8_param: bool | None = None
    fp4_param: bool | None = None

    @property
    def quantization(self) -> str | None:
        """The recipe that it quantizes by; None is the 16-bit dtype."""
        return self.fp8_quantization_recipe or self.fp4_quantization_recipe

    @property
    def opens(self) -> bool:
        """Whether it quantizes where the recipe of the run opens no autocast."""
        return bool(self.quantization and self.override_nonquantized_autocast)


class Entry(NamedTuple):
    """One of a file's configs; evaluation: None where the training recipe serves both."""

    training: LayerRecipe
    evaluation: LayerRecipe | None = None


class Matcher(NamedTuple):
    """A pattern and the config it picks; enabled: None where it is not said, which is off."""

    name: str
    config: str
    pattern: str
    enabled: bool | None = None


class PrecisionFile(NamedTuple):
    """What a file says: its configs by name, and its matchers in order."""

    name: str
    configs: dict[str, Entry]
    matchers: tuple[Matcher, ...]


def quantization(config: MixedPrecisionConfig) -> str | None:
    """Return the recipe that *config* quantizes by, or None."""
    return config.fp8_recipe if config.fp8 else config.fp4_recipe if config.fp4 else None


def storage(config: MixedPrecisionConfig) -> str | None:
    """Return the recipe in whose format *config* stores weights, None for the 16-bit dtype."""
    stored = config.fp8_param_gather if config.fp8 else config.fp4_param_gather
    return quantization(config) if stored else None


def recipes(file: PrecisionFile, base: MixedPrecisionConfig) -> dict[str, MixedPrecisionConfig]:
    """Return the training recipe of each config that quantizes, over the 16-bit mode of *base*.

    One with a factory of its own is left out: what it computes stands in no file.
    """
    mode: dict[str, Any] = {"bf16": base.bf16, "fp16": base.fp16, "params_dtype": base.params_dtype}
    found = {}
    for name, (layer, _) in sorted(file.configs.items()):
        if layer.quantization in (None, "custom"):
            continue
        family = "fp8" if layer.fp8_quantization_recipe else "fp4"
        what = layer.fp8_format if family == "fp8" else "e2m1"
        values = {**mode, family: what, f"{family}_recipe": layer.quantization}
        found[name] = MixedPrecisionConfig(**values)
    return found
