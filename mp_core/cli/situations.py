"""The options by which a verb is told where a recipe shall run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from mp_core.errors import InvalidPrecision
from mp_core.situation import Fact, Situation

#: The fact of each option; a shape's or a layout's is the framework's own field name.
TEXTS = {
    "gpu": "device",
    "cuda": "cuda",
    "cublas": "cublas",
    "cudnn": "cudnn",
    "te": "transformer_engine",
    "mcore": "megatron_core",
    "torch": "torch",
}
NUMBERS = {
    "num-layers": "num_layers",
    "hidden-size": "hidden_size",
    "ffn-hidden-size": "ffn_hidden_size",
    "num-attention-heads": "num_attention_heads",
    "num-query-groups": "num_query_groups",
    "kv-channels": "kv_channels",
    "num-experts": "num_moe_experts",
    "moe-ffn-hidden-size": "moe_ffn_hidden_size",
    "vocab-size": "vocab_size",
    "seq-length": "seq_length",
    "micro-batch-size": "micro_batch_size",
    "tp": "tensor_model_parallel_size",
    "pp": "pipeline_model_parallel_size",
    "cp": "context_parallel_size",
    "ep": "expert_model_parallel_size",
    "etp": "expert_tensor_parallel_size",
    "dp": "data_parallel_size",
}
SWITCHES = {
    "overlap-param-gather": "overlap_param_gather",
    "sequence-parallel": "sequence_parallel",
    "use-distributed-optimizer": "use_distributed_optimizer",
    "use-megatron-fsdp": "use_megatron_fsdp",
}
HELP = {
    "gpu": "Product such as h100 or mi355x, or a key such as cuda:sm90 or rocm:gfx942.",
    "te": "Version of Transformer Engine.",
    "target": "Field names as YAML or JSON, a Hugging Face config.json, or arguments.",
}


def situation_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add every option of a situation; read them with situation_from()."""
    options = [
        click.option("--target", type=click.Path(exists=True, dir_okay=False), help=HELP["target"])
    ]
    options += [
        click.option(f"--{n}", help=HELP.get(n, f"Version of {f}.")) for n, f in TEXTS.items()
    ]
    options += [click.option(f"--{n}", type=click.IntRange(1), help=f) for n, f in NUMBERS.items()]
    options += [click.option(f"--{name}/--no-{name}", default=None) for name in SWITCHES]
    text = "NAME=VALUE of the environment there; 'none' where nothing is set."
    options.append(click.option("--env", multiple=True, help=text))
    for option in reversed(options):
        command = option(command)
    return command


def situation_from(options: dict[str, Any]) -> Situation:
    """Return the situation that the options give; --gpu means another machine than this one.

    Without it, what nobody gave of the machine is detected here. Raises InvalidPrecision for
    what cannot be read.
    """
    names = {**TEXTS, **NUMBERS, **SWITCHES}
    given = {fact: options.get(name.replace("-", "_")) for name, fact in names.items()}
    given = {fact: value for fact, value in given.items() if value is not None}
    facts, environment = facts_of(options["target"]), environment_of(options["env"])
    if "device" in given or "device" in facts:
        return Situation(given, environment=environment, facts=facts)
    from mp_core.machine import here

    return here(facts, given, environment)


def environment_of(written: tuple[str, ...]) -> Mapping[str, str] | None:
    """Return the environment that was given, None where nothing was said of it."""
    if not written:
        return None
    pairs = {}
    for each in written:
        name, equals, value = each.partition("=")
        if equals and name.isupper():
            pairs[name] = value
        elif each.lower() != "none":
            raise InvalidPrecision(f"--env {each!r}: write NAME=VALUE in capitals, or none")
    return pairs


def facts_of(path: str | None) -> dict[str, Fact]:
    """Return the facts of a target file; on standard error, what of it is not understood."""
    from mp_core.reading import read_target

    if path is None:
        return {}
    target = read_target(path)
    for name in target.unread:
        click.echo(f"mp: not understood in {path}: {name}", err=True)
    return target.facts
