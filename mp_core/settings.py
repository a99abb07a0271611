"""What a config says, resolved: the mode as one fact, inactive families switched off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from mp_core.changes import RULE, Origin
from mp_core.config import PARTNERS

if TYPE_CHECKING:
    from mp_core.config import MixedPrecisionConfig

#: The fields of one fact, the base precision; they move together or not at all.
MODE_FIELDS = ("fp32", "fp16", "bf16", "params_dtype", "pipeline_dtype", "autocast_dtype")
MODE_DTYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
FP8_KNOBS = (
    "fp8_recipe",
    "fp8_margin",
    "fp8_amax_history_len",
    "fp8_amax_compute_algo",
    "fp8_wgrad",
    "fp8_multi_head_attention",
    "fp8_param",
    "fp8_param_gather",
    "reuse_grad_buf_for_mxfp8_param_ag",
)
FP4_KNOBS = ("fp4_recipe", "fp4_param", "fp4_param_gather")
#: FP8 attention too: Megatron-Core passes it to NVFP4 as well, whatever ``fp8`` is.
SHARED_KNOBS = ("first_last_layers_bf16", "fp8_dot_product_attention")
LAYER_KNOBS = ("num_layers_at_start_in_bf16", "num_layers_at_end_in_bf16")
LOSS_SCALE_KNOBS = (
    "loss_scale",
    "initial_loss_scale",
    "min_loss_scale",
    "loss_scale_window",
    "hysteresis",
)
#: Written as off when their family is off; the other knobs of an inactive family are left alone.
SWITCHES = ("fp8_param", "fp8_param_gather", "fp4_param", "fp4_param_gather")
REUSE = "reuse_grad_buf_for_mxfp8_param_ag"


#: Fields, the switches one of which they need, and what to say where all are off.
NEEDS = (
    (FP8_KNOBS, ("fp8",), "fp8 is off"),
    (FP4_KNOBS, ("fp4",), "fp4 is off"),
    ((REUSE,), ("fp8_param_gather",), "fp8_param_gather is off"),
    ((*LAYER_KNOBS, *SHARED_KNOBS), ("fp8", "fp4"), "fp8 and fp4 are off"),
    (LAYER_KNOBS, ("first_last_layers_bf16",), "first_last_layers_bf16 is off"),
    (LOSS_SCALE_KNOBS, ("fp16",), "only fp16 scales the loss"),
)
_SWITCHES: dict[str, list[tuple[tuple[str, ...], str]]] = {}
for _fields, _switches, _reason in NEEDS:
    for _field in _fields:
        _SWITCHES.setdefault(_field, []).append((_switches, _reason))


class Setting(NamedTuple):
    """A value that the config wants in field *field* of whatever target has it."""

    field: str
    value: Any
    origin: Origin
    reason: str = ""


def mode(config: MixedPrecisionConfig) -> str:
    """Return ``fp32``, ``fp16`` or ``bf16``; a config with no flag is fp32, as in Megatron."""
    return "bf16" if config.bf16 else "fp16" if config.fp16 else "fp32"


def inactive_because(config: MixedPrecisionConfig, field: str) -> str:
    """Return why *field* does nothing in this config, or an empty string."""
    for switches, reason in _SWITCHES.get(field, ()):
        if not any(getattr(config, switch) for switch in switches):
            return reason
    return ""


def settings(config: MixedPrecisionConfig) -> Iterator[Setting]:
    """Yield each opinion of *config* once, in field order, with its origin and a rule's reason."""
    stored = config.to_dict()
    for name in stored:
        if name in MODE_FIELDS:
            yield from _mode_setting(config, name, stored)
            continue
        off = inactive_because(config, name)
        if off and (name in SWITCHES or name == REUSE):
            yield Setting(name, False, RULE, off)
        elif not off and (stored[name] is not None or name in ("fp8", "fp4")):
            origin = config.origin(name)
            reason = f"follows {PARTNERS[name]}" if origin is RULE else ""
            yield Setting(name, stored[name], origin, reason)


def _mode_setting(
    config: MixedPrecisionConfig, name: str, stored: dict[str, Any]
) -> Iterator[Setting]:
    chosen, value = mode(config), stored[name]
    if name == "fp32":
        return
    if value is not None:
        yield Setting(name, value, config.origin(name))
    elif name == "autocast_dtype":
        dtype = stored["params_dtype"] or MODE_DTYPES[chosen]
        yield Setting(name, dtype, RULE, "follows params_dtype")
    else:
        yield Setting(name, MODE_DTYPES[chosen], RULE, f"follows {chosen}")


def dead_knobs(config: MixedPrecisionConfig) -> dict[str, str]:
    """Return why, by field, for each override that does nothing in this config."""
    overridden = [name for name in config.to_dict() if config.origin(name).kind == "override"]
    reasons = {name: inactive_because(config, name) for name in overridden}
    return {name: reason for name, reason in reasons.items() if reason}
