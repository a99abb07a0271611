"""``mp memory``: what recipes cost in memory, side by side."""

from __future__ import annotations

from typing import Any

import click

from mp_core.cli.options import json_option, print_json
from mp_core.cli.situations import situation_from, situation_options
from mp_core.counting import assumed
from mp_core.expression import get_mixed_precision_config
from mp_core.footprint import Row, per_gpu, shards
from mp_core.memory import SIZES, Cost, base_dtype, basis, parameter_cost, weight_bytes
from mp_core.situation import UNKNOWN, Situation

PARTS = Cost._fields
GIB = 2**30
#: Width of the longest bar in a terminal, and the sign of each part in it.
WIDTH, SIGNS = 56, "█▓▒░"
NOT_IN_IT = "Activations, workspaces and fragmentation are not in these numbers."


@click.command("memory")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@situation_options
@click.option("--plot", type=click.Path(dir_okay=False), help="Write stacked bars to this file.")
@json_option
def command(names: tuple[str, ...], plot: str | None, as_json: bool, **options: Any) -> None:
    """Show what recipes cost in memory: bytes per parameter, and on a GPU of a given layout.

    The distributed optimizer is on with --dp, unless --no-use-distributed-optimizer.
    """
    if options["dp"] and options["use_distributed_optimizer"] is None:
        options["use_distributed_optimizer"] = True
    situation = situation_from(options)
    described = [_describe(name, situation) for name in names]
    if as_json:
        print_json({"recipes": described, "not_included": NOT_IN_IT})
    else:
        _print(described, situation)
    if plot:
        from mp_core.picture import draw

        draw([(each["recipe"], _parts(each)) for each in described], plot, _unit(described))


def _describe(name: str, situation: Situation) -> dict[str, Any]:
    config = get_mixed_precision_config(name)
    cost = parameter_cost(config, situation).sharded(shards(situation))
    kind, source = basis(config, situation)
    modelled = situation.value("num_layers") is not UNKNOWN
    rows = per_gpu(config, situation) if modelled else []
    sums = [sum(getattr(row.cost, part) for row in rows) for part in PARTS]
    return {
        "recipe": name,
        "bytes_per_parameter": {**cost._asdict(), "total": cost.total()},
        "base": SIZES[base_dtype(config)],
        "weights": weight_bytes(config, situation).text,
        "basis": kind,
        "source": source,
        "rows": [_row(row) for row in rows],
        "bytes_on_gpu": dict(zip(PARTS, sums, strict=True)) if modelled else None,
        "ranks": shards(situation),
        "assumed": assumed(situation) if modelled else {},
    }


def _row(row: Row) -> dict[str, Any]:
    total = {"total": row.cost.total()}
    return {"kind": row.kind, "parameters": row.parameters, **row.cost._asdict(), **total}


def _parts(each: dict[str, Any]) -> dict[str, float]:
    """Return what a bar shows: bytes on a GPU, or per parameter where no model is known."""
    return each["bytes_on_gpu"] or {part: each["bytes_per_parameter"][part] for part in PARTS}


def _unit(described: list[dict[str, Any]]) -> tuple[str, float]:
    modelled = described[0]["bytes_on_gpu"]
    return ("GiB per GPU", GIB) if modelled else ("bytes per parameter", 1)


def _print(described: list[dict[str, Any]], situation: Situation) -> None:
    from rich.text import Text

    from mp_core.render import page, table

    with page() as out:
        ranks = shards(situation)
        title = f"bytes per parameter of a linear layer, state on {ranks} ranks"
        heads = ("recipe", *PARTS, "total", "basis", "weights are")
        out.print(table(heads, [_cells(each) for each in described], title))
        for each in described:
            if each["rows"]:
                out.print()
                title = f"{each['recipe']}: GiB on the fullest GPU"
                rows = [_gib(row) for row in each["rows"]]
                out.print(table(("kind", "parameters", *PARTS, "total"), rows, title))
        out.print()
        _bars(described, out)
        taken = described[0]["assumed"]
        if taken:
            said = ", ".join(f"{name}={value}" for name, value in taken.items())
            out.print(Text(f"Taken as Megatron's default, as nobody gave it: {said}."))
        for each in described:
            if each["bytes_per_parameter"]["weights"] > each["base"]:
                out.print(Text(_more(each)))
        for source in sorted({each["source"] for each in described}):
            out.print(Text(f"source: {source}", style="dim"))
        out.print(Text(NOT_IN_IT, style="dim"))


def _more(each: dict[str, Any]) -> str:
    weights, base = each["bytes_per_parameter"]["weights"], each["base"]
    who = f"{each['recipe']}: a weight takes {weights:.4g} bytes, more than the {base:g}"
    return f"{who} of its recipe's base: {each['weights'].partition(':')[0]}."


def _cells(each: dict[str, Any]) -> tuple[str, ...]:
    numbers = [f"{value:.2f}" for value in each["bytes_per_parameter"].values()]
    return (each["recipe"], *numbers, each["basis"], each["weights"])


def _gib(row: dict[str, Any]) -> tuple[str, ...]:
    numbers = [f"{row[part] / GIB:.2f}" for part in (*PARTS, "total")]
    return (row["kind"], f"{row['parameters']:,.0f}", *numbers)


def _bars(described: list[dict[str, Any]], out: Any) -> None:
    from rich.text import Text

    unit, size = _unit(described)
    longest = max(sum(_parts(each).values()) for each in described)
    wide = max(len(each["recipe"]) for each in described)
    legend = "  ".join(f"{sign} {part}" for sign, part in zip(SIGNS, PARTS, strict=True))
    out.print(Text(f"{unit}: {legend}"))
    for each in described:
        parts = zip(SIGNS, _parts(each).values(), strict=True)
        bar = "".join(sign * round(WIDTH * value / longest) for sign, value in parts)
        total = sum(_parts(each).values()) / size
        out.print(Text(f"{each['recipe']:{wide}}  {bar} {total:.2f}"))
