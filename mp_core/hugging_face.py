"""A Hugging Face ``config.json`` by Megatron's own field names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mp_core.errors import InvalidPrecision
from mp_core.fields import checked, names

#: Where the two projects say one thing by different names.
SAME = {
    "hidden_size": "hidden_size",
    "intermediate_size": "ffn_hidden_size",
    "num_attention_heads": "num_attention_heads",
    "num_hidden_layers": "num_layers",
    "num_key_value_heads": "num_query_groups",
    "vocab_size": "vocab_size",
}
EXPERTS = {
    "moe_intermediate_size": "moe_ffn_hidden_size",
    "n_routed_experts": "num_moe_experts",
    "num_experts": "num_moe_experts",
    "num_experts_per_tok": "moe_router_topk",
    "num_local_experts": "num_moe_experts",
    "shared_expert_intermediate_size": "moe_shared_expert_intermediate_size",
}
LATENT = {
    "kv_lora_rank": "kv_lora_rank",
    "q_lora_rank": "q_lora_rank",
    "qk_nope_head_dim": "qk_head_dim",
    "qk_rope_head_dim": "qk_pos_emb_head_dim",
    "v_head_dim": "v_head_dim",
}
#: What the code of a model type fixes and its config.json does not say: transformers,
#: models/<model type>/modeling_<model type>.py.
FIXED: dict[str, dict[str, Any]] = {
    "llama": {},
    "mistral": {},
    "qwen2": {"add_qkv_bias": True},
    "qwen3": {"qk_layernorm": True},
    "mixtral": {},
    "qwen2_moe": {"add_qkv_bias": True, "moe_shared_expert_gate": True},
    "qwen3_moe": {"qk_layernorm": True},
    "deepseek_v2": {"multi_latent_attention": True, "qk_layernorm": True},
    "deepseek_v3": {
        "moe_router_enable_expert_bias": True,
        "multi_latent_attention": True,
        "qk_layernorm": True,
    },
    "gpt_oss": {"add_bias_linear": True, "softmax_type": "learnable"},
}
COMMON = {
    "add_bias_linear": False,
    "add_qkv_bias": False,
    "gated_linear_unit": True,
    "multi_latent_attention": False,
    "normalization": "RMSNorm",
    "qk_layernorm": False,
}
#: Families whose heads are hidden_size / num_attention_heads wide where head_dim is absent.
DIVIDED = {"llama", "mistral", "mixtral", "qwen2", "qwen2_moe"}
#: Families whose experts are as wide as intermediate_size says.
WIDE = {"gpt_oss", "mixtral"}
#: Read here, or of no meaning for shape and memory; max_position_embeddings is what a model can
#: read, not the seq_length of a run.
QUIET = names(
    """
    _name_or_path architectures attention_bias attention_dropout attn_implementation auto_map
    aux_loss_alpha bos_token_id decoder_sparse_step dtype eos_token_id ep_size
    experts_per_token first_k_dense_replace
    head_dim hidden_act initial_context_length initializer_range layer_types
    max_position_embeddings max_window_layers mlp_bias mlp_only_layers model_type moe_layer_freq
    n_group n_shared_experts norm_topk_prob num_nextn_predict_layers output_router_logits
    pad_token_id pretraining_tp qk_head_dim qkv_bias quantization_config rms_norm_eps
    rope_parameters rope_scaling rope_theta routed_scaling_factor router_aux_loss_coef
    rope_interleave router_jitter_noise scoring_func seq_aux sliding_window swiglu_limit text_config
    tie_word_embeddings topk_group topk_method torch_dtype transformers_version use_cache
    use_sliding_window"""
)


def is_hugging_face(values: Mapping[str, Any]) -> bool:
    """Return whether the mapping is a config.json of transformers."""
    theirs = {"architectures", "num_hidden_layers", "text_config"} & values.keys()
    return bool(theirs) or ("model_type" in values and "num_layers" not in values)


def translated(file: str, values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a config.json by Megatron's field names, and the names that are not understood.

    Raises InvalidPrecision for a value that is not legal.
    """
    outer, values = values, _text(values)
    family = str(values.get("model_type"))
    facts = dict(_renamed(file, values, family))
    unread = sorted((outer.keys() | values.keys()) - QUIET - {*SAME, *EXPERTS, *LATENT})
    if family not in FIXED:
        known = ", ".join(sorted(FIXED))
        return facts, [*unread, f"model_type {family} (only sizes were read; known: {known})"]
    facts = {**COMMON, **FIXED[family], **facts, **dict(_derived(file, values, family, facts))}
    bias = bool(values.get("attention_bias")) and family != "gpt_oss"
    unread += ["attention_bias (read as add_qkv_bias; the output's bias has no field)"] * bias
    return facts | ({"add_qkv_bias": True} if bias else {}), unread


def _text(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the language model's part of a model that also sees or hears."""
    inner = values.get("text_config")
    return inner if isinstance(inner, Mapping) else values


def _renamed(file: str, values: Mapping[str, Any], family: str) -> Iterator[tuple[str, Any]]:
    renamed = SAME | (LATENT if FIXED.get(family, {}).get("multi_latent_attention") else {})
    for theirs, ours in renamed.items():
        if theirs in values and not (values[theirs] is None and ours == "num_query_groups"):
            yield ours, checked(file, ours, values[theirs], theirs)
    for theirs, ours in EXPERTS.items():
        # A dense model of such a family has 0 experts, or null.
        if values.get(theirs) or isinstance(values.get(theirs), bool):
            yield ours, checked(file, ours, values[theirs], theirs)
    if "tie_word_embeddings" in values or family in FIXED:
        tied = values.get("tie_word_embeddings", False)
        name = "untie_embeddings_and_output_weights"
        yield name, not checked(file, name, tied, "tie_word_embeddings")


def _derived(
    file: str, values: Mapping[str, Any], family: str, facts: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield what several names of the file say together."""
    if not FIXED[family].get("multi_latent_attention"):
        yield from _channels(file, values, family, facts)
    if values.get("num_nextn_predict_layers"):
        written = "num_nextn_predict_layers"
        yield "mtp_num_layers", checked(file, "mtp_num_layers", values[written], written)
    if values.get("topk_method") == "noaux_tc":
        yield "moe_router_enable_expert_bias", True
    if "qkv_bias" in values and family == "qwen2_moe":
        yield "add_qkv_bias", checked(file, "add_qkv_bias", values["qkv_bias"], "qkv_bias")
    if facts.get("num_moe_experts"):
        yield from _experts(file, values, family, facts)


def _channels(
    file: str, values: Mapping[str, Any], family: str, facts: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    hidden, heads = facts.get("hidden_size"), facts.get("num_attention_heads")
    if values.get("head_dim") is not None:
        yield "kv_channels", checked(file, "kv_channels", values["head_dim"], "head_dim")
    elif family in DIVIDED and hidden and heads:
        yield "kv_channels", hidden // heads


def _experts(
    file: str, values: Mapping[str, Any], family: str, facts: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    if family in WIDE and "ffn_hidden_size" in facts:
        yield "moe_ffn_hidden_size", facts["ffn_hidden_size"]
    if values.get("n_shared_experts"):
        name = "moe_shared_expert_intermediate_size"
        shared = checked(file, name, values["n_shared_experts"], "n_shared_experts")
        if facts.get("moe_ffn_hidden_size"):
            yield name, shared * facts["moe_ffn_hidden_size"]
    if facts.get("num_layers"):
        yield "moe_layer_freq", _sparse(file, values, facts["num_layers"])


def _sparse(file: str, values: Mapping[str, Any], layers: int) -> list[int]:
    """Return 1 for each layer of experts and 0 for each other one."""
    counts = {"first_k_dense_replace": 0, "moe_layer_freq": 1, "decoder_sparse_step": 1}
    first, every, step = (
        # num_layers_at_start_in_bf16 is the one count that 0 is legal in and null is not.
        checked(file, "num_layers" if least else "num_layers_at_start_in_bf16", value, name)
        for name, least in counts.items()
        for value in [values.get(name, least)]
    )
    dense = values.get("mlp_only_layers") or []
    if not isinstance(dense, list) or not all(type(n) is int for n in dense):
        raise InvalidPrecision(f"{file}: mlp_only_layers is {dense!r}; legal: a list of numbers")
    numbers = range(layers)
    return [
        int(n >= first and n % every == 0 and (n + 1) % step == 0 and n not in dense)
        for n in numbers
    ]
