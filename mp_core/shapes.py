"""The sizes that a rank's GEMMs have, from the model's shape and the parallel layout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from mp_core.findings import Finding, Rule, Severity
from mp_core.situation import UNKNOWN, Situation

TP, CP = "tensor_model_parallel_size", "context_parallel_size"
EXPERT_TP = "expert_tensor_parallel_size"
#: Tensor-parallel sizes that one would try instead, where they divide the heads.
SPLITS = (1, 2, 4, 8, 16, 32)


class Dimension(NamedTuple):
    """One size of a GEMM: what it is called, its whole size, and the fact that splits it."""

    name: str
    size: int
    split: str = ""


def dimensions(situation: Situation) -> Iterator[Dimension]:
    """Yield the sizes of the linear layers whose facts are known, by Megatron's field names."""
    known = _Known(situation)
    if known.hidden_size:
        yield Dimension("hidden_size", known.hidden_size)
    yield from _latent_attention(known) if known.multi_latent_attention else _attention(known)
    yield from _feed_forward(known)
    if known.mamba_num_heads and known.mamba_head_dim:
        size = known.mamba_num_heads * known.mamba_head_dim
        yield Dimension("mamba_num_heads * mamba_head_dim", size, TP)


class _Known:
    """The facts as attributes, None where one is unknown."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation

    def __getattr__(self, name: str) -> Any:
        value = self._situation.value(name)
        return None if value is UNKNOWN else value


def _attention(known: _Known) -> Iterator[Dimension]:
    heads = known.num_attention_heads
    if not heads or not (known.kv_channels or known.hidden_size):
        return
    channels = known.kv_channels or known.hidden_size // heads
    groups = known.num_query_groups or heads
    yield Dimension("num_attention_heads * kv_channels", heads * channels, TP)
    total = (heads + 2 * groups) * channels
    yield Dimension("(num_attention_heads + 2 * num_query_groups) * kv_channels", total, TP)


def _latent_attention(known: _Known) -> Iterator[Dimension]:
    heads, rope = known.num_attention_heads, known.qk_pos_emb_head_dim
    parts = (heads, rope, known.kv_lora_rank, known.qk_head_dim, known.v_head_dim)
    if not all(parts):
        return
    if known.q_lora_rank:
        yield Dimension("q_lora_rank", known.q_lora_rank)
    yield Dimension("kv_lora_rank + qk_pos_emb_head_dim", known.kv_lora_rank + rope)
    yield Dimension("kv_lora_rank", known.kv_lora_rank)
    query = heads * (known.qk_head_dim + rope)
    yield Dimension("num_attention_heads * (qk_head_dim + qk_pos_emb_head_dim)", query, TP)
    value = heads * (known.qk_head_dim + known.v_head_dim)
    yield Dimension("num_attention_heads * (qk_head_dim + v_head_dim)", value, TP)
    yield Dimension("num_attention_heads * v_head_dim", heads * known.v_head_dim, TP)


def _feed_forward(known: _Known) -> Iterator[Dimension]:
    if known.ffn_hidden_size and _has_dense_layers(known):
        yield Dimension("ffn_hidden_size", known.ffn_hidden_size, TP)
    # Megatron's experts are as wide as its dense layers where they have no width of their own.
    own = "moe_ffn_hidden_size" if known.moe_ffn_hidden_size else "ffn_hidden_size"
    if known.num_moe_experts and getattr(known, own):
        split = EXPERT_TP if known.expert_tensor_parallel_size else TP
        yield Dimension(own, getattr(known, own), split)
    shared = known.moe_shared_expert_intermediate_size
    if shared:
        yield Dimension("moe_shared_expert_intermediate_size", shared, TP)


def _has_dense_layers(known: _Known) -> bool:
    """Return whether a layer has no experts; by Megatron's defaults each has, where there are."""
    if known.hybrid_override_pattern:
        return "-" in known.hybrid_override_pattern
    every = known.moe_layer_freq or 1
    return not known.num_moe_experts or (0 in every if isinstance(every, list) else every > 1)


def misaligned(
    situation: Situation, multiple: int, rule: Rule, what: str, say: Severity = "error"
) -> Iterator[Finding]:
    """Yield a finding for each size a rank has that is no multiple of *multiple*.

    what: for whom, such as ``MXFP8``. say: the severity. Where the shape or its split is not
    known, one unknown that names the missing facts.
    """
    names = ["hidden_size", "num_attention_heads"]
    names += ["ffn_hidden_size"] if _has_dense_layers(_Known(situation)) else []
    missing = sorted(name for name in names if situation.value(name) is UNKNOWN)
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
    heads = situation.value("num_attention_heads") or 0
    fits = [n for n in SPLITS if each.size % (n * multiple) == 0 and heads % n == 0]
    if parts > 1 and fits:
        split = f"{each.split}={min(fits, key=lambda n: abs(n - parts))}"
        remedy = f"{remedy} or {split}" if remedy else f"Use {split}"
    return message, f"{remedy or f'Make it a multiple of {whole}'}."


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
