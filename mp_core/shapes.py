"""The sizes that a rank's GEMMs have, from the model's shape and the parallel layout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from mp_core.situation import UNKNOWN, Situation

TP, CP = "tensor_model_parallel_size", "context_parallel_size"
EXPERT_TP = "expert_tensor_parallel_size"
MAMBA = ("mamba_head_dim", "mamba_num_groups", "mamba_num_heads", "mamba_state_dim")


class Dimension(NamedTuple):
    """One size of a GEMM: what it is called, its whole size, and the fact that splits it."""

    name: str
    size: int
    split: str = ""


def dimensions(situation: Situation) -> Iterator[Dimension]:
    """Yield the sizes of the linear layers whose facts are known, by Megatron's field names."""
    known = _Known(situation)
    if known.hidden_size:
        # The projection into multi-token prediction's layers is the one that splits it.
        yield Dimension("hidden_size", known.hidden_size, TP if known.mtp_num_layers else "")
    yield from _latent_attention(known) if known.multi_latent_attention else _attention(known)
    yield from _feed_forward(known)
    yield from _mamba(known)


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
    if known.moe_latent_size:
        yield Dimension("moe_latent_size", known.moe_latent_size)
    shared = known.moe_shared_expert_intermediate_size
    if shared:
        yield Dimension("moe_shared_expert_intermediate_size", shared, TP)


def _mamba(known: _Known) -> Iterator[Dimension]:
    """Yield what goes into a Mamba layer and what comes out of it: ssm/mamba_mixer.py."""
    heads, channels = known.mamba_num_heads, known.mamba_head_dim
    if not (heads and channels):
        return
    yield Dimension("mamba_num_heads * mamba_head_dim", heads * channels, TP)
    groups, state = known.mamba_num_groups, known.mamba_state_dim
    if groups and state:
        name = "mamba_num_heads * (2 * mamba_head_dim + 1) + 2 * mamba_num_groups * mamba_state_dim"
        yield Dimension(name, heads * (2 * channels + 1) + 2 * groups * state, TP)


def _pattern(known: _Known) -> str:
    """Return a hybrid model's layers; megatron-core 0.17 renamed the field, and reads both."""
    return str(known.hybrid_layer_pattern or known.hybrid_override_pattern or "")


def _has_dense_layers(known: _Known) -> bool:
    """Return whether a layer has no experts; by Megatron's defaults each has, where there are."""
    if pattern := _pattern(known):
        return "-" in pattern
    every = known.moe_layer_freq or 1
    return not known.num_moe_experts or (0 in every if isinstance(every, list) else every > 1)


def needed(situation: Situation) -> list[str]:
    """Return the names of the facts that the sizes follow from."""
    known = _Known(situation)
    names = ["hidden_size", "num_attention_heads"]
    names += ["ffn_hidden_size"] if _has_dense_layers(known) else []
    return names + (list(MAMBA) if "M" in _pattern(known) else [])
