"""Layouts that Megatron-Core refuses are refused beforehand, and no others.

Sources: megatron-core transformer_config.py and transformer/moe/moe_layer.py, 0.12 to 0.19.
"""

from __future__ import annotations

from typing import Any

import pytest

from mp_core import Finding, check

HEADS, GROUPS, EXPERTS = "num_attention_heads", "num_query_groups", "num_moe_experts"
TP, EP = "tensor_model_parallel_size", "expert_model_parallel_size"
ROOMY = {"num_layers": 2, "hidden_size": 3840, "kv_channels": 64}


def refused(**facts: Any) -> list[Finding]:
    return [each for each in check("bf16_mixed", facts) if each.code == "MG115"]


@pytest.mark.parametrize(
    ("facts", "remedy"),
    [
        ({HEADS: 14, TP: 8}, f"Use {TP}=7."),
        ({HEADS: 40, GROUPS: 10, TP: 4}, f"Use {TP}=2."),
        ({EXPERTS: 60, EP: 8}, f"Use {EP}=6."),
        ({EXPERTS: None, EP: 8}, f"Use {EP}=1."),
        ({HEADS: 32, GROUPS: 2, TP: 4, "megatron_core": "0.15.3"}, f"Use {TP}=2, or megatron-core"),
    ],
)
def test_a_rank_has_no_part_of_a_head_or_of_an_expert(facts: dict[str, Any], remedy: str) -> None:
    (found,) = refused(**facts)
    assert found.severity == "error"
    assert found.remedy.startswith(remedy)


@pytest.mark.parametrize(
    "facts",
    [
        {HEADS: 32, TP: 8},
        {HEADS: 14, TP: 1},
        {HEADS: 32, GROUPS: 2, TP: 4, "megatron_core": "0.16.1"},
        {EXPERTS: 64, EP: 8},
        {EXPERTS: None, EP: 1},
    ],
)
def test_a_layout_of_whole_parts_passes(facts: dict[str, Any]) -> None:
    assert refused(**facts) == []


@pytest.mark.parametrize(
    "facts", [{TP: 8}, {EP: 8}, {HEADS: 32, GROUPS: 2, TP: 4}], ids=["heads", "experts", "release"]
)
def test_a_split_of_what_is_not_known_is_unknown(facts: dict[str, Any]) -> None:
    assert [each.severity for each in refused(**facts)] == ["unknown"]


@pytest.mark.parametrize("ranks", [1, 2, 4, 5, 8])
@pytest.mark.parametrize(("heads", "groups"), [(40, 10), (40, 8), (40, 2), (14, 2), (16, None)])
def test_the_real_class_refuses_the_same(ranks: int, heads: int, groups: int | None) -> None:
    core = pytest.importorskip("megatron.core")
    from megatron.core.transformer import TransformerConfig

    facts = {**ROOMY, HEADS: heads, GROUPS: groups, TP: ranks}
    found = [each.severity for each in refused(**facts, megatron_core=core.__version__)]
    try:
        TransformerConfig(**facts)
    except ValueError:
        assert "error" in found
    else:
        assert found == []
