"""What a weight takes under FP8 with subchannel scaling."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig, hookimpl
from mp_core.memory import Bytes
from mp_plugin_transformer_engine.storage import kept

#: By rows and by columns, each with a 32-bit scale for a block of 128 by 128.
COPIES = 2 * (1 + 4 / 128**2)
WHAT = "an FP8 copy for each pass"
SOURCE = "TransformerEngine pytorch/tensor/float8_blockwise_tensor.py"


@hookimpl
def mp_bytes_per_parameter(config: MixedPrecisionConfig) -> Bytes | None:
    """Return the bytes of an FP8 copy for each pass."""
    if not config.fp8 or config.fp8_recipe != "blockwise":
        return None
    return kept(COPIES, primary=bool(config.fp8_param), what=WHAT, source=SOURCE)
