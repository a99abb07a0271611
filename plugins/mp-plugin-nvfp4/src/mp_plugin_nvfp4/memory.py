"""What a weight takes under NVFP4."""

from __future__ import annotations

from mp_core import MixedPrecisionConfig, hookimpl
from mp_core.memory import Bytes
from mp_plugin_transformer_engine.storage import kept

#: By rows and by columns, each with an 8-bit scale for 16 values.
COPIES = 2 * (1 / 2 + 1 / 16)
WHAT = "an NVFP4 copy for each pass"
SOURCE = "TransformerEngine pytorch/tensor/nvfp4_tensor.py"


@hookimpl
def mp_bytes_per_parameter(config: MixedPrecisionConfig) -> Bytes | None:
    """Return the bytes of an NVFP4 copy for each pass."""
    if not config.fp4 or config.fp4_recipe != "nvfp4":
        return None
    return kept(COPIES, primary=bool(config.fp4_param), what=WHAT, source=SOURCE)
