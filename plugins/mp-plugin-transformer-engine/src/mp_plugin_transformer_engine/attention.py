"""Where FP8 attention trains: what the families' rows share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from packaging.version import Version

from mp_core import Finding, MixedPrecisionConfig, Rule, Situation
from mp_core.releases import version
from mp_core.requirements import Place, Requirements
from mp_plugin_transformer_engine.switches import ATTENTION_SWITCHES

SOURCE = "TransformerEngine pytorch/attention/dot_product_attention/utils.py, 2.20"
BLACKWELL = "cuda:sm100..sm119"
HOPPER = "cuda:sm90..sm99"
OFF = "Type fp8_dot_product_attention=false."
RECIPE = next(each.name for each in ATTENTION_SWITCHES if each.name.endswith("RECIPE"))
#: The cuDNN from which FP8 attention on Blackwell is deterministic.
DETERMINISTIC = "9.18"


def attention(prefix: str, what: str, *places: Place) -> tuple[Requirements, Requirements]:
    """Return where FP8 attention with *what* trains, and where it does deterministically.

    places: rows on Hopper and on Blackwell; before and after them no backend trains it.
    """
    nowhere = "no backend of Transformer Engine trains it there."
    rows = (
        Place("cuda:..sm89", SOURCE, no=nowhere, remedy=OFF),
        *places,
        Place("cuda:sm120..", SOURCE, no=nowhere, remedy=OFF),
    )
    exact = tuple(
        row._replace(cudnn=max(row.cudnn, DETERMINISTIC, key=_number)) if _blackwell(row) else row
        for row in rows
    )
    name = f"FP8 attention with {what}"
    return (
        Requirements(name, prefix, rows, SOURCE, start=401),
        Requirements(f"deterministic {name}", prefix, exact, SOURCE, start=401),
    )


def attention_rules(requirements: tuple[Requirements, Requirements]) -> tuple[Rule, ...]:
    """Return the rules of both tables, in the words of the first."""
    plain, exact = requirements
    return replace(exact, what=plain.what).rules()


def check_attention(
    config: MixedPrecisionConfig,
    situation: Situation,
    requirements: tuple[Requirements, Requirements],
) -> Iterator[Finding]:
    """Yield what stands against FP8 attention, where it is on and takes the GEMMs' recipe."""
    if config.fp8_dot_product_attention and not situation.value(RECIPE):
        exact = bool(situation.value("deterministic_mode"))
        yield from requirements[exact].check(situation)


def _blackwell(row: Place) -> bool:
    return row.device == BLACKWELL


def _number(release: str) -> Version:
    return version(release or "0")
