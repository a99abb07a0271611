"""Counted parameters are those of Megatron's own models, built small."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("megatron.core")

SHAPES: list[dict[str, Any]] = [
    {},
    {"add_bias_linear": False},
    {"gated_linear_unit": True},
    {"add_bias_linear": False, "add_qkv_bias": True, "num_query_groups": 2, "kv_channels": 8},
    {"share": True},
    {"qk_layernorm": True, "add_bias_linear": False},
    {"normalization": "RMSNorm", "add_bias_linear": False},
    {"num_moe_experts": 4},
    {
        "num_moe_experts": 4,
        "add_bias_linear": False,
        "gated_linear_unit": True,
        "moe_ffn_hidden_size": 32,
        "moe_layer_freq": [0, 1, 1, 1],
        "moe_shared_expert_intermediate_size": 48,
    },
    {
        "num_moe_experts": 4,
        "add_bias_linear": False,
        "moe_shared_expert_gate": True,
        "moe_shared_expert_intermediate_size": 48,
    },
]
#: Prints, for each shape, what Megatron's model has and what was counted.
CODE = """
import json, sys, tempfile
import torch
from megatron.core import parallel_state
from megatron.core.models.gpt import GPTModel, gpt_layer_specs as specs
from megatron.core.transformer.transformer_config import TransformerConfig
from mp_core import Situation
from mp_core.counting import count

store = torch.distributed.FileStore(tempfile.mktemp(), 1)
torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=store)
parallel_state.initialize_model_parallel()
for shape in json.loads(sys.argv[1]):
    share, sizes = shape.pop("share", False), dict(vocab_size=128, max_sequence_length=32)
    try:
        config = TransformerConfig(num_layers=4, hidden_size=64, num_attention_heads=4,
                                   ffn_hidden_size=96, use_cpu_initialization=True, **shape)
    except Exception as error:  # an older version lacks the field or the pair
        print("refused", "num_moe_experts" in shape, error)
        continue
    if config.num_moe_experts:
        spec = specs.get_gpt_decoder_block_spec(config, use_transformer_engine=False)
    else:
        spec = specs.get_gpt_layer_local_spec(qk_layernorm=config.qk_layernorm)
    model = GPTModel(config, spec, **sizes, position_embedding_type="rope",
                     share_embeddings_and_output_weights=share)
    facts = {"vocab_size": 128, "untie_embeddings_and_output_weights": not share}
    counted = sum(each.parameters for each in count(Situation(facts, (config,))))
    print("counted", counted, sum(each.numel() for each in model.parameters()))
"""


def test_small_models_of_each_kind_have_as_many_parameters_as_counted() -> None:
    command = [sys.executable, "-W", "ignore", "-c", CODE, json.dumps(SHAPES)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line.split() for line in ran.stdout.splitlines() if line.startswith("counted")]
    refused = [each.split()[1] for each in ran.stdout.splitlines() if each.startswith("refused")]
    assert len(lines) + len(refused) == len(SHAPES), ran.stderr
    # Megatron-Core before 0.15 has no bias beside experts, before 0.16 no gate of a shared one.
    assert set(refused) <= {"True"}
    assert len(lines) >= len(SHAPES) - 2, ran.stdout
    assert [line[1] for line in lines] == [line[2] for line in lines]
