"""What a weight takes under FP8 with current scaling."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig, Situation, hookimpl
from mp_core.memory import Bytes
from mp_plugin_transformer_engine.storage import kept_per_tensor


@hookimpl
def mp_bytes_per_parameter(config: MixedPrecisionConfig, situation: Situation) -> Bytes | None:
    """Return the bytes of FP8 with one scale a tensor; the scales themselves are few."""
    if not config.fp8 or config.fp8_recipe != "tensorwise":
        return None
    return kept_per_tensor(situation, primary=bool(config.fp8_param))
