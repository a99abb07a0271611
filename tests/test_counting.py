"""A model's parameters are counted exactly, from its shape alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mp_core import Situation
from mp_core.counting import Count, assumed, count, total
from mp_core.errors import InvalidPrecision

#: Shapes and published sizes of models, see the file's own note.
MODELS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "models.json").read_text(encoding="utf-8")
)["models"]
PUBLISHED = sorted(name for name, shape in MODELS.items() if "parameters" in shape)
#: Megatron's name for what the file calls otherwise.
NAMES = {
    "bias": "add_bias_linear",
    "gated": "gated_linear_unit",
    "hybrid_pattern": "hybrid_override_pattern",
    "qk_norm": "qk_layernorm",
    "qkv_bias": "add_qkv_bias",
    "router_bias": "moe_router_enable_expert_bias",
}


def facts(model: str) -> dict[str, Any]:
    """Return the shape of *model* by Megatron's field names."""
    shape = dict(MODELS[model])
    latent, dense = shape.pop("mla", {}), shape.pop("dense_layers_at_start", 0)
    experts = shape["num_layers"] - dense
    return {
        "add_bias_linear": False,
        "moe_layer_freq": [0] * dense + [1] * experts,
        "multi_latent_attention": bool(latent),
        "normalization": "RMSNorm",
        "qk_layernorm": bool(latent),
        "softmax_type": "learnable" if shape.pop("attention_sinks", False) else "vanilla",
        "untie_embeddings_and_output_weights": not shape.pop("tied", False),
        **latent,
        **{NAMES.get(name, name): value for name, value in shape.items() if name != "parameters"},
    }


def counted(model: str, **changes: Any) -> list[Count]:
    """Return the counts of *model* with some facts changed."""
    return count(Situation(facts(model) | changes))


@pytest.mark.parametrize("model", PUBLISHED)
def test_a_model_has_the_number_of_parameters_that_is_published(model: str) -> None:
    assert sum(total(counted(model)).values()) == MODELS[model]["parameters"]


def test_experts_in_a_narrower_space_have_its_width_and_two_projections() -> None:
    mixture = {"ffn_hidden_size": 96, "num_moe_experts": 4, "add_bias_linear": False}
    sizes = {"num_layers": 1, "hidden_size": 64, "num_attention_heads": 4, "vocab_size": 128}
    before, after = (
        total(count(Situation(sizes | mixture | {"moe_latent_size": latent})))
        for latent in (None, 16)
    )
    assert (before["experts"], after["experts"]) == (4 * 64 * 2 * 96, 4 * 16 * 2 * 96)
    assert after["router"] - before["router"] == 2 * 64 * 16


def test_a_hybrid_pattern_counts_the_same_under_its_newer_name() -> None:
    newer = facts("nemotron-h-8b") | {"vocab_size": 131072}
    newer["hybrid_layer_pattern"] = newer.pop("hybrid_override_pattern")
    assert count(Situation(newer)) == counted("nemotron-h-8b", vocab_size=131072)


def test_most_of_a_mixture_is_experts_and_none_of_the_first_layers_are() -> None:
    counts = counted("deepseek-v3")
    assert total(counts)["experts"] > 0.95 * sum(total(counts).values())
    assert min(c.layer or 0 for c in counts if c.kind == "experts") == 3
    assert {c.layer for c in counts if c.kind == "mlp"} == {0, 1, 2}


def test_a_tied_output_is_counted_once_and_an_untied_one_twice() -> None:
    tied = total(counted("qwen2.5-0.5b"))
    untied = total(counted("qwen2.5-0.5b", untie_embeddings_and_output_weights=True))
    assert "output" not in tied
    assert untied["output"] == tied["embedding"] == 151936 * 896


def test_every_second_layer_has_experts_where_the_frequency_is_two() -> None:
    counts = counted("qwen3-30b-a3b", moe_layer_freq=2)
    assert {c.layer for c in counts if c.kind == "experts"} == set(range(0, 48, 2))


def test_no_norm_router_bias_or_embedding_counts_as_a_matrix() -> None:
    kinds = {c.kind for c in counted("gpt-oss-20b") if c.matrix}
    assert kinds == {"attention", "experts"}


def test_a_missing_size_is_named_with_what_to_type() -> None:
    known = {name: value for name, value in facts("llama3-8b").items() if name != "vocab_size"}
    with pytest.raises(InvalidPrecision, match="vocab_size is not known; type --vocab-size"):
        count(Situation(known))


def test_a_switch_that_nobody_gave_is_listed_as_assumed() -> None:
    known = {name: value for name, value in facts("llama3-8b").items() if name != "normalization"}
    assert assumed(Situation(known))["normalization"] == "LayerNorm"
    assert "add_bias_linear" not in assumed(Situation(known))


def test_a_list_of_expert_layers_of_another_length_is_refused() -> None:
    with pytest.raises(InvalidPrecision, match="2 entries and the model 61 layers"):
        counted("deepseek-v3", moe_layer_freq=[0, 1])


def test_a_symbol_that_is_no_layer_is_refused() -> None:
    with pytest.raises(InvalidPrecision, match="has X, which is no layer"):
        counted("nemotron-h-8b", vocab_size=131072, hybrid_override_pattern="MX")
