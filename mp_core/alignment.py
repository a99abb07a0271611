"""Findings on sizes and tokens of a rank's GEMMs that are no multiple of what a recipe takes."""

from __future__ import annotations

from collections.abc import Iterator

from mp_core.findings import Finding, Rule, Severity
from mp_core.shapes import CP, TP, Dimension, dimensions, needed
from mp_core.situation import UNKNOWN, Situation

#: Tensor-parallel sizes that one would try instead, where they divide what no rank can have in
#: part: Megatron-Core, transformer_config.py and ssm/mamba_mixer.py.
SPLITS = (1, 2, 4, 8, 16, 32)
WHOLE = ("num_attention_heads", "num_query_groups", "mamba_num_heads", "mamba_num_groups")


def misaligned(
    situation: Situation, multiple: int, rule: Rule, what: str, say: Severity = "error"
) -> Iterator[Finding]:
    """Yield a finding for each size a rank has that is no multiple of *multiple*.

    what: for whom, such as ``MXFP8``. say: the severity. Where the shape or its split is not
    known, one unknown that names the missing facts.
    """
    missing = sorted(name for name in needed(situation) if situation.value(name) is UNKNOWN)
    split_unknown = False
    for each in dimensions(situation):
        parts = situation.value(each.split) if each.split else 1
        if parts is UNKNOWN:
            split_unknown = True
        elif each.size % (parts * multiple):
            message, remedy = _sentences(situation, each, multiple)
            yield getattr(rule, say)(f"{message}, as {what} needs.", remedy)
    missing += [TP] if split_unknown else []
    if missing:
        message = f"The GEMM shapes of {what} were not all checked: {', '.join(missing)} unknown."
        yield rule.unknown(message, "Type --target FILE, or the shape's own options.")


def _sentences(situation: Situation, each: Dimension, multiple: int) -> tuple[str, str]:
    """Return what is wrong with a size, and the nearest value and split that fit."""
    parts = situation.value(each.split) if each.split else 1
    local = f" / {each.split} {parts} = {each.size / parts:g}" if parts > 1 else ""
    message = f"{each.name} {each.size}{local} is no multiple of {multiple}"
    whole = parts * multiple
    is_field = each.name.isidentifier()
    remedy = f"Use {each.name}={_nearest(each.size, whole)}" if is_field else ""
    fits = [n for n in SPLITS if each.size % (n * multiple) == 0 and _divides(n, each, situation)]
    if parts > 1 and fits:
        split = f"{each.split}={min(fits, key=lambda n: abs(n - parts))}"
        remedy = f"{remedy} or {split}" if remedy else f"Use {split}"
    return message, f"{remedy or f'Make it a multiple of {whole}'}."


def _divides(ranks: int, each: Dimension, situation: Situation) -> bool:
    """Return whether so many ranks of tensor parallelism have whole heads and groups."""
    facts = WHOLE if each.split == TP else ()
    return not any((situation.value(name) or 0) % ranks for name in facts)


def _nearest(size: int, multiple: int) -> int:
    return max(1, (size + multiple // 2) // multiple) * multiple


def token_misalignment(
    situation: Situation, multiple: int, rule: Rule, what: str, say: Severity = "error"
) -> Iterator[Finding]:
    """Yield a finding where the tokens of a rank's GEMM are no multiple of *multiple*.

    Tokens are micro_batch_size * seq_length / (CP * TP with sequence parallelism). A missing fact
    gives one unknown.
    """
    names = ["micro_batch_size", "seq_length", CP, "sequence_parallel"]
    names += [TP] if situation.value("sequence_parallel") else []
    missing = [name for name in names if situation.value(name) in (UNKNOWN, None)]
    if missing:
        message = f"The tokens of a GEMM of {what} were not checked: {', '.join(missing)} unknown."
        yield rule.unknown(message, "Type --target FILE, or the options of these names.")
        return
    batch, length, *splits = (situation.value(name) for name in names)
    parts = splits[0] * (splits[2] if len(splits) > 2 else 1)  # noqa: PLR2004 # CP, SP, TP
    if batch * length % (parts * multiple):
        split = "CP * TP" if len(splits) > 2 else "CP"  # noqa: PLR2004 # as above
        tokens = f"{batch} * {length} / {split} {parts} = {batch * length / parts:g}"
        message = f"A rank's GEMM has {tokens} tokens, no multiple of {multiple} as {what} needs."
        better = _nearest(length, parts * multiple)
        yield getattr(rule, say)(message, f"Use seq_length={better}, or pad sequences to it.")
