"""What Transformer Engine keeps of a weight that it computes with in fewer bits."""

from __future__ import annotations

from mp_core import UNKNOWN, Situation
from mp_core.devices import matches
from mp_core.memory import Bytes

ONE_COPY = "TransformerEngine pytorch/utils.py, is_non_tn_fp8_gemm_supported"
#: Where one FP8 copy serves both passes; elsewhere its transpose is kept beside it.
WITHOUT_TRANSPOSE = ("cuda:sm100..sm119", "cuda:sm130..")
BASE = 2.0


def kept(copies: float, *, primary: bool, what: str, source: str) -> Bytes:
    """Return the bytes of a weight of which *copies* bytes are quantized.

    primary: the quantized copies are all there is; otherwise a 16-bit parameter stays beside.
    """
    if primary:
        return Bytes(copies, "derived", source, f"{what}, which is the parameter")
    text = f"a 16-bit parameter and {what}: more than 16-bit training takes"
    return Bytes(BASE + copies, "derived", source, text)


def kept_per_tensor(situation: Situation, *, primary: bool) -> Bytes:
    """Return the bytes of a weight with one scale for the tensor; an unknown device has most."""
    device = situation.value("device")
    if device not in (UNKNOWN, None) and any(matches(each, device) for each in WITHOUT_TRANSPOSE):
        return kept(1.0, primary=primary, what="one FP8 copy", source=ONE_COPY)
    what = "an FP8 copy and its transpose"
    if device in (UNKNOWN, None):
        what += " (at most: the device is not known)"
    return kept(2.0, primary=primary, what=what, source=ONE_COPY)
