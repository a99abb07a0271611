"""The field names that a target file may hold, and what is legal in each."""

from __future__ import annotations

import ast
import re
from typing import Any

from mp_core.config import MixedPrecisionConfig
from mp_core.errors import InvalidPrecision
from mp_core.situation import VERSIONS


def names(text: str) -> frozenset[str]:
    """Return the words of the text."""
    return frozenset(text.split())


SIZES = names(
    """
    context_parallel_size data_parallel_size expert_model_parallel_size
    expert_tensor_parallel_size ffn_hidden_size global_batch_size hidden_size kv_channels
    kv_lora_rank mamba_head_dim mamba_num_groups mamba_num_heads mamba_state_dim micro_batch_size
    moe_ffn_hidden_size moe_latent_size moe_router_topk moe_shared_expert_intermediate_size
    num_attention_heads num_layers num_moe_experts num_query_groups pipeline_model_parallel_size
    q_lora_rank qk_head_dim qk_pos_emb_head_dim seq_length tensor_model_parallel_size v_head_dim
    virtual_pipeline_model_parallel_size vocab_size world_size"""
)
COUNTS = names(
    """
    first_pipeline_num_layers mtp_num_layers num_layers_at_end_in_bf16
    num_layers_at_start_in_bf16 num_layers_in_first_pipeline_stage
    num_layers_in_last_pipeline_stage recompute_num_layers"""
)
SWITCHES = names(
    """
    add_bias_linear add_qkv_bias deterministic_mode gated_linear_unit grad_reduce_in_fp32
    moe_router_enable_expert_bias moe_shared_expert_gate multi_latent_attention
    optimizer_cpu_offload overlap_grad_reduce overlap_param_gather
    overlap_param_gather_with_optimizer_step qk_layernorm sequence_parallel store_param_remainders
    untie_embeddings_and_output_weights use_custom_fsdp use_distributed_optimizer use_megatron_fsdp
    use_precision_aware_optimizer use_torch_fsdp2 bf16 fp16 fp8_param_gather fp4_param_gather
    first_last_layers_bf16 reuse_grad_buf_for_mxfp8_param_ag fp8_wgrad
    fp8_dot_product_attention fp8_multi_head_attention"""
)
#: Sizes that are legally absent: a model without experts, or queries that are not compressed.
OPTIONAL = names(
    """
    context_parallel_size expert_tensor_parallel_size ffn_hidden_size kv_channels
    moe_ffn_hidden_size moe_latent_size moe_shared_expert_intermediate_size mtp_num_layers
    num_moe_experts num_query_groups q_lora_rank virtual_pipeline_model_parallel_size"""
) | (COUNTS - {"num_layers_at_end_in_bf16", "num_layers_at_start_in_bf16"})
#: Understood, and of values that their own users check.
FREE = names(
    """
    data_parallel_sharding_strategy device exp_avg_dtype exp_avg_sq_dtype hybrid_layer_pattern
    hybrid_override_pattern main_grads_dtype main_params_dtype normalization optimizer
    optimizer_offload_fraction recompute_granularity recompute_method recompute_modules
    sgd_momentum softmax_type transformer_impl"""
)
KNOWN = (
    SIZES
    | COUNTS
    | SWITCHES
    | FREE
    | {"moe_layer_freq", *VERSIONS}
    | MixedPrecisionConfig.__dataclass_fields__.keys()
)
#: More layers than any model has; a list beyond it is a slip of the pen.
LONGEST = 10_000
PATTERN = re.compile(r"[\[\](),*+\d\s]+")


def checked(file: str, name: str, value: Any, written: str = "") -> Any:
    """Return *value* as the field *name* holds it.

    written: the name in the file where it is another. Raises InvalidPrecision.
    """
    read, legal = value, _illegal(name, value)
    if name == "moe_layer_freq":
        read = _layers(value)
        legal = "" if read is not None else "a number, or a list of 0 and 1 such as ([0]*3+[1]*58)"
    if legal:
        raise InvalidPrecision(f"{file}: {written or name} is {value!r}; legal: {legal}")
    return read


def _illegal(name: str, value: Any) -> str:
    """Return what is legal where *value* is not, or an empty string."""
    if value is None and (name in OPTIONAL or name not in SIZES | COUNTS | SWITCHES):
        return ""
    if name in SIZES | COUNTS:
        least = int(name in SIZES)
        legal = type(value) is int and value >= least
        return "" if legal else f"a whole number, {least} or more"
    if name in SWITCHES and not isinstance(value, bool):
        return "true or false"
    # YAML reads 12.10 as the number 12.1, which is another version.
    if name in VERSIONS and not isinstance(value, str):
        return f"a version in quotes, such as \"{name}: '12.10'\""
    if name == "device" and not isinstance(value, str):
        return "a product such as h100, or a key such as cuda:sm90"
    return ""


def _layers(value: Any) -> Any:
    """Return moe_layer_freq as a number or a list, None where it is neither."""
    if isinstance(value, str) and PATTERN.fullmatch(value):
        try:
            value = _evaluated(ast.parse(value.strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    if isinstance(value, list):
        return value if value and all(type(n) is int and n in (0, 1) for n in value) else None
    return value if type(value) is int and value > 0 else None


def _evaluated(node: ast.expr) -> Any:
    """Return the list or number that the expression of lists, ``+`` and ``*`` stands for."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List):
        return [_evaluated(each) for each in node.elts]
    if not isinstance(node, ast.BinOp):
        raise ValueError(node)  # noqa: TRY004 # one error for whatever is no list
    left, right = _evaluated(node.left), _evaluated(node.right)
    if isinstance(node.op, ast.Add) and isinstance(left, list) and isinstance(right, list):
        return left + right
    if isinstance(left, int):
        left, right = right, left
    if not isinstance(left, list) or type(right) is not int or len(left) * right > LONGEST:
        raise ValueError(node)
    return left * right
