"""Every rule of this plugin that depends on a version of Megatron-Core, each with its reason."""

from __future__ import annotations

from importlib import metadata
from typing import TYPE_CHECKING

from mp_core.releases import version

if TYPE_CHECKING:
    from mp_core import MixedPrecisionConfig

#: The first version whose class of a role has a field; a field not listed is in all of them.
#: Read from the released classes; the installed class, not this table, decides what can be set.
SINCE = {
    ("ddp", "fp4_param_gather"): "0.17",
    ("ddp", "reuse_grad_buf_for_mxfp8_param_ag"): "0.13",
    ("model", "fp4"): "0.15",
    ("model", "fp4_param"): "0.15",
    ("model", "fp4_recipe"): "0.15",
    ("optimizer", "fp8_recipe"): "0.13",
    ("optimizer", "reuse_grad_buf_for_mxfp8_param_ag"): "0.13",
}
OLDEST = "0.12"
#: The first version that accepts a value, where the field is older.
VALUES = {("fp8_recipe", "blockwise"): "0.13"}
#: The recipes that its fp8_utils.py and fp4_utils.py make; the others it refuses when training.
RECIPES = ("blockwise", "custom", "delayed", "mxfp8", "nvfp4", "tensorwise")
#: The first version that passes ``fp8_dot_product_attention`` on, where the field is older.
ATTENTION = {"mxfp8": "0.18", "nvfp4": "0.17", "tensorwise": "0.15"}
#: What the oldest version refuses although its classes hold the fields: a pair of MXFP8's.
MXFP8_PARAMETERS = "0.13"

#: What a config's own validation raises only because Transformer Engine is not installed: it says
#: nothing about the recipe. By exception type and a part of its message.
NEEDS_TRANSFORMER_ENGINE = (
    # 0.12: MoE with FP8 imports it.
    (ImportError, "transformer_engine"),
    # 0.12: the precision-aware optimizer looks for its FusedAdam.
    (RuntimeError, "requires FusedAdam from TransformerEngine"),
    # 0.13 to 0.16: its version, None, is compared with a minimum.
    (TypeError, "instances of 'NoneType' and"),
    # 0.17 and later: a missing one counts as version 0.0.0.
    (ValueError, "your version is 0.0.0"),
)


def first_version(role: str, field: str) -> str:
    """Return the first Megatron-Core version whose class of *role* has *field*."""
    return f"megatron-core {SINCE.get((role, field), OLDEST)}"


def needed_versions(config: MixedPrecisionConfig) -> dict[str, str]:
    """Return the first version for each setting of FP8 or FP4 that needs one, the oldest first."""
    needs = {"fp8": OLDEST} if config.fp8 else {}
    if config.fp8:
        floor = VALUES.get(("fp8_recipe", config.fp8_recipe), OLDEST)
        needs[f"fp8_recipe={config.fp8_recipe!r}"] = floor
        if config.fp8_recipe == "mxfp8" and config.fp8_param_gather:
            needs["fp8_param_gather with MXFP8"] = MXFP8_PARAMETERS
    if config.fp4:
        needs[f"fp4={config.fp4!r}"] = SINCE["model", "fp4"]
        if config.fp4_param_gather:
            needs["fp4_param_gather=True"] = SINCE["ddp", "fp4_param_gather"]
    return dict(sorted(needs.items(), key=lambda need: version(need[1])))


def installed_version() -> str:
    """Return the version of the Megatron-Core that is imported, which may have no metadata."""
    from megatron.core import __version__

    return str(__version__)


def needs_transformer_engine(error: BaseException) -> bool:
    """Return whether *error* was raised only because Transformer Engine is not installed."""
    try:
        metadata.version("transformer-engine")
    except metadata.PackageNotFoundError:
        return any(
            isinstance(error, k) and part in str(error) for k, part in NEEDS_TRANSFORMER_ENGINE
        )
    return False


def can_shard_the_optimizer() -> bool:
    """Return whether the distributed optimizer runs without Transformer Engine.

    That of 0.12 refuses to be made where neither Transformer Engine nor Apex is installed.
    """
    major, minor = (int(part) for part in installed_version().split(".")[:2])
    return (major, minor) >= (0, 13)
