"""What a weight takes under MXFP8."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig, hookimpl
from mp_core.memory import Bytes
from mp_plugin_transformer_engine.storage import kept

#: By rows and by columns, each with an 8-bit scale for 32 values.
COPIES = 2 * (1 + 1 / 32)
WHAT = "an MXFP8 copy for each pass"
SOURCE = "TransformerEngine pytorch/tensor/mxfp8_tensor.py; Megatron-LM#1237"


@hookimpl
def mp_bytes_per_parameter(config: MixedPrecisionConfig) -> Bytes | None:
    """Return the bytes of an MXFP8 copy for each pass."""
    if not config.fp8 or config.fp8_recipe != "mxfp8":
        return None
    return kept(COPIES, primary=bool(config.fp8_param), what=WHAT, source=SOURCE)
