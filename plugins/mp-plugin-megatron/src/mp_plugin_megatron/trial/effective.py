"""What was asked and what is: read back from the live model and optimizer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import torch

from mp_core.settings import mode
from mp_plugin_megatron.trial.model import GPU, Trainee, has_transformer_engine

NOT_RUN = "not run here"


class Row(NamedTuple):
    """One fact: what the recipe asked, what the live objects hold, and how the two compare."""

    what: str
    asked: str
    effective: str
    verdict: Literal["agrees", "differs", "not run"]


def rows(trainee: Trainee) -> list[Row]:
    """Return the rows of the table *asked / effective*, in the order of training."""
    config, (_, optimizer, _) = trainee.asked.config, _final(trainee)
    base = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}[mode(config)]
    parameters = list(trainee.model.parameters())
    reduced = "float32" if config.grad_reduce_in_fp32 else base
    inner = _inner(trainee.optimizer)
    return [
        _row("parameters", base, _dtypes(parameters)),
        _row("gradient buffer", reduced, _dtypes(p.main_grad for p in parameters)),
        _row("main parameters", "float32", _dtypes(_main_parameters(inner))),
        _row("first moment", _name(optimizer.exp_avg_dtype), _dtypes(_moments(inner, "exp_avg"))),
        _row(
            "second moment",
            _name(optimizer.exp_avg_sq_dtype),
            _dtypes(_moments(inner, "exp_avg_sq")),
        ),
        _row("loss scaler", _asked_scaler(trainee), _scaler(inner)),
        *_weights(trainee),
        *_layers(trainee),
    ]


def _row(what: str, asked: str, effective: str) -> Row:
    if effective.startswith(NOT_RUN):
        return Row(what, asked, effective, "not run")
    return Row(what, asked, effective, "agrees" if asked == effective else "differs")


def _final(trainee: Trainee) -> tuple[Any, Any, Any]:
    model, optimizer, ddp = (trainee.asked.targets[role] for role in ("model", "optimizer", "ddp"))
    return model, optimizer, ddp


def _inner(optimizer: Any) -> list[Any]:
    return list(getattr(optimizer, "chained_optimizers", [optimizer]))


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _dtypes(tensors: Iterable[torch.Tensor]) -> str:
    return ", ".join(sorted({_name(tensor.dtype) for tensor in tensors})) or "none"


def _main_parameters(inner: list[Any]) -> Iterable[torch.Tensor]:
    return [p for each in inner for group in each.optimizer.param_groups for p in group["params"]]


def _moments(inner: list[Any], name: str) -> Iterable[torch.Tensor]:
    return [s[name] for each in inner for s in each.optimizer.state.values() if name in s]


def _asked_scaler(trainee: Trainee) -> str:
    config = trainee.asked.config
    if not config.fp16:
        return "none"
    return "dynamic" if config.loss_scale is None else f"constant {config.loss_scale:.10g}"


def _scaler(inner: list[Any]) -> str:
    """Return what scales the loss; Megatron-Core's constant scaler of 1 scales nothing."""
    found = set()
    for each in inner:
        scaler = getattr(each, "grad_scaler", None)
        kind = type(scaler).__name__
        scale = each.get_loss_scale().item()
        constant = "none" if scale == 1 else f"constant {scale:.10g}"
        found.add("dynamic" if kind == "DynamicGradScaler" else constant)
    return ", ".join(sorted(found))


def _layers(trainee: Trainee) -> list[Row]:
    config = trainee.asked.config
    if not (config.fp8 or config.fp4):
        return []
    count = _final(trainee)[0].num_layers
    return [_layer(trainee, index, count) for index in range(count)]


def _layer(trainee: Trainee, index: int, count: int) -> Row:
    config, what = trainee.asked.config, f"layer {index + 1} arithmetic"
    start, end = config.num_layers_at_start_in_bf16, config.num_layers_at_end_in_bf16
    if config.first_last_layers_bf16 and (index < start or index >= count - end):
        return _row(what, mode(config), _layer_state(trainee, index) or mode(config))
    family, value = ("fp8", config.fp8) if config.fp8 else ("fp4", config.fp4)
    recipe = config.fp8_recipe if config.fp8 else config.fp4_recipe
    asked = f"{family} {value}, {recipe}"
    if not has_transformer_engine():
        return _row(what, asked, _not_run())
    # Its modules know the family that they ran in, and not the format: the rest is as configured.
    ran = _layer_state(trainee, index) == family
    return _row(what, asked, asked if ran else mode(config))


def _not_run() -> str:
    return f"{NOT_RUN}: needs Transformer Engine{'' if GPU else ' on a GPU'}"


def _weights(trainee: Trainee) -> list[Row]:
    """Return the row of weights stored quantized, where the recipe asks for them."""
    config = trainee.asked.config
    family = "fp8" if config.fp8 and config.fp8_param else "fp4" if config.fp4_param else ""
    if not family or not (config.fp8 or config.fp4):
        return []
    if not has_transformer_engine():
        return [_row("GEMM weights", family, _not_run())]
    kinds = {type(parameter).__name__ for parameter in trainee.model.parameters()}
    quantized = any(family.upper() in kind or "Float8" in kind for kind in kinds)
    base = _dtypes(trainee.model.parameters())
    return [_row("GEMM weights", family, family if quantized else base)]


def _layer_state(trainee: Trainee, index: int) -> str:
    """Return the family that the layer's Transformer Engine modules last ran in, or nothing."""
    layer = trainee.model
    while not hasattr(layer, "decoder"):
        layer = layer.module
    for module in layer.decoder.layers[index].modules():
        if getattr(module, "fp8", False):
            recipe = type(getattr(module, "fp8_meta", {}).get("recipe")).__name__
            return "fp4" if "FP4" in recipe else "fp8"
    return ""
