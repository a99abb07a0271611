"""Every rule of this plugin that depends on a version of Megatron-Core, each with its reason."""

from __future__ import annotations

from importlib import metadata

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
