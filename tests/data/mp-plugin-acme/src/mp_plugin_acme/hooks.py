"""The hooks that mp_core calls in this plugin."""

from __future__ import annotations

import os
from collections.abc import Mapping

from mp_core import InvalidPrecision, MixedPrecisionConfig, hookimpl
from mp_core.calls import Call, Member
from mp_core.memory import Bytes
from mp_core.requirements import Place
from mp_plugin_acme.checks import MANUAL, OTHERS, is_acme, mp_check, mp_rules

__all__ = [
    "mp_bytes_per_parameter",
    "mp_check",
    "mp_detect",
    "mp_devices",
    "mp_places",
    "mp_rules",
    "mp_te_recipe",
    "mp_variables",
    "mp_vocabulary",
]


@hookimpl
def mp_devices() -> Mapping[str, str]:
    """Return Acme's products."""
    return {"acme-npu1": "acme:npu1", "acme-npu2": "acme:npu2"}


@hookimpl
def mp_places() -> Mapping[str, tuple[Place, ...]]:
    """Return where BF16 runs on Acme's products."""
    return OTHERS


@hookimpl
def mp_detect() -> Mapping[str, str]:
    """Return the product that Acme's driver names in the environment."""
    name = os.environ.get("ACME_VISIBLE_DEVICE")
    return {"device": name} if name else {}


@hookimpl
def mp_vocabulary() -> Mapping[str, Mapping[str, str]]:
    """Return the values that Acme's FP8 makes legal."""
    return {
        "fp8": {"e4m3": "E4M3 in both passes"},
        "fp8_recipe": {"acme": "one scale a row, on Acme's NPUs"},
    }


@hookimpl
def mp_variables() -> Mapping[str, str]:
    """Return the variable that changes Acme's FP8."""
    return {"ACME_FP8": "1 turns FP8 on in Acme's library"}


@hookimpl
def mp_te_recipe(config: MixedPrecisionConfig) -> Call | None:
    """Return the call of Acme's own class, where its FP8 is on."""
    if not is_acme(config):
        return None
    if config.fp8 != "e4m3":
        raise InvalidPrecision(f"AcmeScaling has no format fp8={config.fp8}; type fp8=e4m3")
    arguments = {"fp8_format": Member("Format", "E4M3"), "margin": config.fp8_margin}
    return Call("mp_plugin_acme.runtime", "AcmeScaling", arguments, {"margin": 0})


@hookimpl
def mp_bytes_per_parameter(config: MixedPrecisionConfig) -> Bytes | None:
    """Return the bytes of the 16-bit parameter and of its FP8 copy."""
    if not is_acme(config):
        return None
    return Bytes(3.0, "documented", MANUAL, "a 16-bit parameter and an FP8 copy")
