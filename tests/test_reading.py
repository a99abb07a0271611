"""A file says of a run what it says, whichever of three shapes it has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mp_core import Situation
from mp_core.counting import count, total
from mp_core.errors import InvalidPrecision
from mp_core.reading import Target, read_target
from mp_core.situation import Fact

MODELS = json.loads((Path(__file__).parent / "data" / "models.json").read_text(encoding="utf-8"))
LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "bos_token_id": 128000,
    "hidden_act": "silu",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "max_position_embeddings": 8192,
    "model_type": "llama",
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "rms_norm_eps": 1e-05,
    "rope_theta": 500000.0,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
}
QWEN3 = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "decoder_sparse_step": 1,
    "head_dim": 128,
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "max_position_embeddings": 40960,
    "mlp_only_layers": [],
    "model_type": "qwen3_moe",
    "moe_intermediate_size": 768,
    "norm_topk_prob": True,
    "num_attention_heads": 32,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 48,
    "num_key_value_heads": 4,
    "sliding_window": None,
    "tie_word_embeddings": False,
    "vocab_size": 151936,
}
QWEN2 = {
    "architectures": ["Qwen2ForCausalLM"],
    "hidden_size": 896,
    "intermediate_size": 4864,
    "model_type": "qwen2",
    "num_attention_heads": 14,
    "num_hidden_layers": 24,
    "num_key_value_heads": 2,
    "tie_word_embeddings": True,
    "vocab_size": 151936,
}
MIXTRAL = {
    "architectures": ["MixtralForCausalLM"],
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "model_type": "mixtral",
    "num_attention_heads": 32,
    "num_experts_per_tok": 2,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "num_local_experts": 8,
    "tie_word_embeddings": False,
    "vocab_size": 32000,
}
# As transformers itself saves it: head_dim is the rotary part, qk_head_dim both parts.
DEEPSEEK = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "first_k_dense_replace": 3,
    "head_dim": 64,
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "kv_lora_rank": 512,
    "max_position_embeddings": 163840,
    "model_type": "deepseek_v3",
    "moe_intermediate_size": 2048,
    "moe_layer_freq": 1,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "num_attention_heads": 128,
    "num_experts_per_tok": 8,
    "num_hidden_layers": 61,
    "num_key_value_heads": 128,
    "num_nextn_predict_layers": 1,
    "q_lora_rank": 1536,
    "qk_head_dim": 192,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "quantization_config": {"fmt": "e4m3", "quant_method": "fp8"},
    "tie_word_embeddings": False,
    "topk_method": "noaux_tc",
    "v_head_dim": 128,
    "vocab_size": 129280,
}
GPT_OSS = {
    "architectures": ["GptOssForCausalLM"],
    "attention_bias": True,
    "head_dim": 64,
    "hidden_size": 2880,
    "intermediate_size": 2880,
    "model_type": "gpt_oss",
    "num_attention_heads": 64,
    "num_experts_per_tok": 4,
    "num_hidden_layers": 24,
    "num_key_value_heads": 8,
    "num_local_experts": 32,
    "tie_word_embeddings": False,
    "vocab_size": 201088,
}
PUBLISHED = {
    "llama3-8b": LLAMA,
    "qwen2.5-0.5b": QWEN2,
    "qwen3-30b-a3b": QWEN3,
    "deepseek-v3": DEEPSEEK,
    "gpt-oss-20b": GPT_OSS,
}
ARGUMENTS = r"""#!/bin/bash
# Mixtral 8x7B
MODEL_ARGS=(
    --num-layers 32   # of which all have experts
    --hidden-size 4096 \
    --group-query-attention --num-query-groups 8
    --num-experts 8
    --moe-layer-freq ([0]*3+[1]*29)
    --swiglu
    --disable-bias-linear
    --untie-embeddings-and-output-weights
    --tensor-model-parallel-size=8
    --fp8-format hybrid
    --recompute-modules core_attn moe
    --no-overlap-grad-reduce
    --seq-length $SEQ
    --lr 1e-4
)
"""


@pytest.fixture
def read(tmp_path: Path):
    """Return what a file of the content says."""

    def read(content: Any, name: str = "config.json") -> Target:
        path = tmp_path / name
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return read_target(path)

    return read


def values(target: Target) -> dict[str, Any]:
    return {name: fact.value for name, fact in target.facts.items()}


@pytest.mark.parametrize("model", sorted(PUBLISHED))
def test_a_hugging_face_shape_has_the_published_number_of_parameters(read, model) -> None:
    target = read(PUBLISHED[model])
    counts = count(Situation(facts=target.facts))
    assert sum(total(counts).values()) == MODELS["models"][model]["parameters"]
    assert (target.kind, target.unread) == ("hugging face", [])


def test_what_a_model_can_read_is_not_what_a_run_reads(read) -> None:
    assert "seq_length" not in read(LLAMA).facts


def test_mixtral_experts_are_as_wide_as_its_dense_layer_would_be(read) -> None:
    facts = values(read(MIXTRAL))
    assert (facts["num_moe_experts"], facts["moe_ffn_hidden_size"]) == (8, 14336)
    assert facts["moe_layer_freq"] == [1] * 32


def test_latent_heads_do_not_take_the_rotary_width_for_their_own(read) -> None:
    facts = values(read(DEEPSEEK))
    assert "kv_channels" not in facts
    assert (facts["qk_head_dim"], facts["qk_pos_emb_head_dim"]) == (128, 64)
    assert facts["moe_layer_freq"] == [0] * 3 + [1] * 58


def test_a_model_that_also_sees_is_read_by_its_language_part(read) -> None:
    target = read({"model_type": "llava", "text_config": LLAMA, "vision_config": {"depth": 3}})
    assert values(target)["num_layers"] == 32
    assert target.unread == ["vision_config"]


def test_of_a_family_that_is_not_known_only_sizes_are_read(read) -> None:
    target = read({"model_type": "acme", "num_hidden_layers": 4, "hiden_size": 64})
    assert values(target) == {"num_layers": 4}
    assert target.unread[0] == "hiden_size; did you mean 'hidden_size'?"
    assert "model_type acme" in target.unread[1]


def test_fields_are_the_same_flat_and_in_sections(read) -> None:
    flat = "hidden_size: 4096\nuse_distributed_optimizer: true\nnum_moe_experts: null\n"
    nested = (
        "model: {hidden_size: 4096, num_moe_experts: null}\n"
        "optimizer: {use_distributed_optimizer: true}\nddp: {use_distributed_optimizer: true}\n"
    )
    assert read(flat, "a.yaml").facts == read(nested, "a.yaml").facts
    assert read(flat, "a.yaml").facts["hidden_size"] == Fact(4096, "a.yaml")


def test_a_name_that_is_not_known_is_listed_with_the_closest(read) -> None:
    target = read("model:\n  hiden_size: 4096\n  num_layers: 2\n", "a.yaml")
    assert target.unread == ["model.hiden_size; did you mean 'hidden_size'?"]


def test_two_sections_that_differ_are_an_error_that_names_both(read) -> None:
    with pytest.raises(InvalidPrecision, match=r"model\.bf16 is True and optimizer\.bf16 is False"):
        read("model: {bf16: true}\noptimizer: {bf16: false}\n", "a.yaml")


def test_an_argument_file_is_read_by_field_names(read) -> None:
    target = read(ARGUMENTS, "train.sh")
    facts = values(target)
    assert target.kind == "arguments"
    assert facts.pop("moe_layer_freq") == [0] * 3 + [1] * 29
    assert facts == {
        "add_bias_linear": False,
        "fp8": "hybrid",
        "gated_linear_unit": True,
        "hidden_size": 4096,
        "lr": "1e-4",
        "num_layers": 32,
        "num_moe_experts": 8,
        "num_query_groups": 8,
        "overlap_grad_reduce": False,
        "recompute_modules": ["core_attn", "moe"],
        "tensor_model_parallel_size": 8,
        "untie_embeddings_and_output_weights": True,
    }
    assert [each.split()[0] for each in target.unread] == ["--seq-length", "lr"]


def test_query_groups_without_their_flag_are_not_read_as_megatron_does_not(read) -> None:
    assert "num_query_groups" not in read("--num-query-groups 8\n--num-layers 2\n", "a.txt").facts


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hidden_size: many", "hidden_size is 'many'; legal: a whole number, 1 or more"),
        ("hidden_size: -8", "hidden_size is -8; legal: a whole number, 1 or more"),
        ("hidden_size: true", "hidden_size is True; legal: a whole number"),
        ("hidden_size: null", "hidden_size is None; legal: a whole number"),
        ("model: {hidden_size: 0}", "model.hidden_size is 0; legal"),
        ("bf16: 1", "bf16 is 1; legal: true or false"),
        ("cuda: 12.10", "cuda is 12.1; legal: a version in quotes"),
        ("moe_layer_freq: '[1]*99999999999'", "moe_layer_freq is '.*legal: a number, or a list"),
        ("--hidden-size many", "--hidden-size is 'many'; legal: a whole number"),
        ("--hidden-size", "--hidden-size is True; legal: a whole number"),
        ("--swiglu yes", "--swiglu is 'yes'; legal: true or false"),
        ("--spec 'a b", "No closing quotation; close the quote"),
        ('{"model_type": "llama", "num_hidden_layers": "32"}', "num_hidden_layers is '32'; legal"),
        ('{"model_type": "llama", "tie_word_embeddings": 0}', "tie_word_embeddings is 0; legal"),
        ("- 1\n- 2", "no mapping of field names"),
        ("", "no mapping of field names"),
        ("a: [", "is not YAML or JSON"),
        ("a\0b", "is binary"),
    ],
)
def test_what_is_not_legal_is_an_error_of_file_field_and_what_is(read, content, message) -> None:
    with pytest.raises(InvalidPrecision, match=rf"(?s)acme\.yaml.*{message}"):
        read(content, "acme.yaml")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidPrecision, match=r"none\.yaml cannot be read: No such file"):
        read_target(tmp_path / "none.yaml")
    (tmp_path / "model.bin").write_bytes(b"\x80\x04\xff")
    with pytest.raises(InvalidPrecision, match=r"model\.bin is binary"):
        read_target(tmp_path / "model.bin")
