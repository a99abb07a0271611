"""How many parameters a model has, by kind and layer, from Megatron's own field names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from mp_core.errors import InvalidPrecision
from mp_core.situation import UNKNOWN, Situation

KINDS = (
    "embedding",
    "output",
    "attention",
    "mlp",
    "experts",
    "shared_experts",
    "router",
    "mamba",
    "norms",
)
#: What stands for a fact that is not known: the defaults of Megatron-LM's arguments.py.
DEFAULTS = {
    "add_bias_linear": True,
    "add_qkv_bias": False,
    "gated_linear_unit": False,
    "moe_layer_freq": 1,
    "multi_latent_attention": False,
    "normalization": "LayerNorm",
    "qk_layernorm": False,
    "untie_embeddings_and_output_weights": False,
}
#: Facts that are off or absent where nobody gave them, and with which few models differ.
ABSENT = (
    "hybrid_layer_pattern",
    "hybrid_override_pattern",
    "kv_channels",
    "moe_ffn_hidden_size",
    "moe_latent_size",
    "moe_router_enable_expert_bias",
    "moe_shared_expert_gate",
    "moe_shared_expert_intermediate_size",
    "num_moe_experts",
    "num_query_groups",
    "q_lora_rank",
    "softmax_type",
)
#: The width of a Mamba layer's convolution: d_conv of megatron-core's ssm/mamba_mixer.py.
CONVOLUTION = 4
SYMBOLS = {"M": "mamba", "*": "attention", "-": "mlp", "E": "experts"}


class Count(NamedTuple):
    """Some parameters: their kind, how many, and where they are.

    layer: its number from 0; None for what is in no layer. matrix: a linear layer's weight, which
    is what FP8 and FP4 can hold; biases, norms, embeddings and routers are none.
    """

    kind: str
    parameters: int
    layer: int | None = None
    matrix: bool = True


def count(situation: Situation) -> list[Count]:
    """Return the parameters of the situation's model; multi-token prediction is not counted.

    Raises InvalidPrecision, which names the facts that are missing.
    """
    shape = _Shape(situation)
    kinds = _layers(shape)
    counts = [Count("embedding", shape.vocab_size * shape.hidden_size, None, matrix=False)]
    if shape.untie_embeddings_and_output_weights:
        counts += [counts[0]._replace(kind="output")]
    for layer, parts in enumerate(kinds):
        found = [each for part in parts for each in PARTS[part](shape)]
        counts += [each._replace(layer=layer) for each in found if each.parameters]
    return [*counts, _norm(shape)]


def total(counts: list[Count]) -> dict[str, int]:
    """Return the number of parameters of each kind there is, in the order of KINDS."""
    found = {kind: sum(c.parameters for c in counts if c.kind == kind) for kind in KINDS}
    return {kind: parameters for kind, parameters in found.items() if parameters}


def assumed(situation: Situation) -> dict[str, Any]:
    """Return the facts that count() takes from Megatron's defaults, as nobody gave them."""
    return {n: value for n, value in DEFAULTS.items() if situation.value(n) is UNKNOWN}


class _Shape:
    """The facts as attributes; a size that is needed and missing is an error."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation

    def __getattr__(self, name: str) -> Any:
        value = self._situation.value(name)
        if value is UNKNOWN and name in DEFAULTS:
            return DEFAULTS[name]
        if value is UNKNOWN and name in ABSENT:
            return None
        if value in (UNKNOWN, None) and name not in ABSENT and name not in DEFAULTS:
            option = f"--{name.replace('_', '-')}"
            message = f"the parameters cannot be counted: {name} is not known"
            raise InvalidPrecision(f"{message}; type {option}, or --target FILE")
        return value

    def inside(self) -> int:
        """Return the width of all query heads together."""
        return int(self.num_attention_heads * self.channels())

    def channels(self) -> int:
        """Return the width of a head."""
        return int(self.kv_channels or self.hidden_size // self.num_attention_heads)


def _layers(shape: _Shape) -> list[tuple[str, ...]]:
    """Return the parts of each layer."""
    # megatron-core 0.17 renamed it, and reads both.
    if pattern := shape.hybrid_layer_pattern or shape.hybrid_override_pattern:
        return _hybrid(pattern)
    numbers = range(shape.num_layers)
    if not shape.num_moe_experts:
        return [("attention", "mlp") for _ in numbers]
    each = shape.moe_layer_freq
    every = [int(n % each == 0) for n in numbers] if isinstance(each, int) else list(each)
    if len(every) != len(numbers):
        message = f"moe_layer_freq has {len(every)} entries and the model {len(numbers)} layers"
        raise InvalidPrecision(f"{message}; give one entry a layer, or a number")
    return [("attention", "experts" if moe else "mlp") for moe in every]


def _hybrid(pattern: str) -> list[tuple[str, ...]]:
    # What follows a slash is multi-token prediction's; a bar is where a pipeline stage ends.
    symbols = pattern.partition("/")[0].replace("|", "")
    wrong = sorted(set(symbols) - set(SYMBOLS))
    if wrong:
        known = ", ".join(f"{symbol} {name}" for symbol, name in SYMBOLS.items())
        message = f"the hybrid pattern has {' '.join(wrong)}, which is no layer"
        raise InvalidPrecision(f"{message}; known: {known}")
    return [(SYMBOLS[symbol],) for symbol in symbols]


def _norm(shape: _Shape, size: int = 0) -> Count:
    parts = 1 if shape.normalization == "RMSNorm" else 2
    return Count("norms", parts * (size or shape.hidden_size), None, matrix=False)


def _bias(kind: str, size: int) -> Count:
    return Count(kind, size, None, matrix=False)


def _attention(shape: _Shape) -> Iterator[Count]:
    yield _norm(shape)
    if shape.softmax_type == "learnable":
        yield _bias("attention", shape.num_attention_heads)
    if shape.multi_latent_attention:
        yield from _latent_attention(shape)
        return
    hidden, groups = shape.hidden_size, shape.num_query_groups or shape.num_attention_heads
    query_key_value = shape.inside() + 2 * groups * shape.channels()
    yield Count("attention", hidden * (query_key_value + shape.inside()))
    if shape.add_bias_linear or shape.add_qkv_bias:
        yield _bias("attention", query_key_value)
    if shape.add_bias_linear:
        yield _bias("attention", hidden)
    if shape.qk_layernorm:
        yield from [_norm(shape, shape.channels())] * 2


def _latent_attention(shape: _Shape) -> Iterator[Count]:
    hidden, heads, rope = shape.hidden_size, shape.num_attention_heads, shape.qk_pos_emb_head_dim
    low, query = shape.kv_lora_rank, heads * (shape.qk_head_dim + rope)
    down = hidden * (low + rope)
    up = low * heads * (shape.qk_head_dim + shape.v_head_dim)
    rank = shape.q_lora_rank
    queries = rank * (hidden + query) if rank else hidden * query
    yield Count("attention", queries + down + up + heads * shape.v_head_dim * hidden)
    if shape.add_bias_linear:
        yield _bias("attention", hidden)
    if shape.qk_layernorm:
        yield _norm(shape, low)
        yield from [_norm(shape, rank)] if rank else []


def _feed_forward(
    shape: _Shape, kind: str, size: int, outside: int, copies: int = 1
) -> Iterator[Count]:
    """Yield the two matrices of an MLP, the first of which is twice as wide where gated."""
    first = size * (2 if shape.gated_linear_unit else 1)
    yield Count(kind, copies * outside * (first + size))
    if shape.add_bias_linear:
        yield _bias(kind, copies * (first + outside))


def _mlp(shape: _Shape) -> Iterator[Count]:
    yield _norm(shape)
    yield from _feed_forward(shape, "mlp", shape.ffn_hidden_size, shape.hidden_size)


def _experts(shape: _Shape) -> Iterator[Count]:
    experts, shared = shape.num_moe_experts, shape.moe_shared_expert_intermediate_size
    yield _norm(shape)
    biases = bool(shape.add_bias_linear) + bool(shape.moe_router_enable_expert_bias)
    yield Count("router", experts * (shape.hidden_size + biases), None, matrix=False)
    size = shape.moe_ffn_hidden_size or shape.ffn_hidden_size
    latent, hidden = shape.moe_latent_size, shape.hidden_size
    if latent:
        # Into the experts' narrower space and back; every rank has them whole, as the router.
        yield Count("router", 2 * hidden * latent)
        yield _bias("router", (latent + hidden) if shape.add_bias_linear else 0)
    yield from _feed_forward(shape, "experts", size, latent or hidden, experts)
    if shared:
        yield from _feed_forward(shape, "shared_experts", shared, hidden)
        gate = shape.hidden_size if shape.moe_shared_expert_gate else 0
        yield _bias("shared_experts", gate)


def _mamba(shape: _Shape) -> Iterator[Count]:
    heads = shape.mamba_num_heads
    inner, state = heads * shape.mamba_head_dim, shape.mamba_num_groups * shape.mamba_state_dim
    width = inner + 2 * state
    yield _norm(shape)
    yield Count("mamba", shape.hidden_size * (inner + width + heads + inner))
    # The convolution and its bias, then A_log, D and dt_bias of each head.
    yield _bias("mamba", width * (CONVOLUTION + 1) + 3 * heads)
    # The gated norm inside the layer has no bias, whatever the others have.
    yield Count("norms", inner, None, matrix=False)


PARTS = {"attention": _attention, "experts": _experts, "mamba": _mamba, "mlp": _mlp}
