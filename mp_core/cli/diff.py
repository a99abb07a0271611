"""``mp diff``: the fields in which two recipes differ."""

from __future__ import annotations

import click

from mp_core.cli.options import json_option, print_json
from mp_core.expression import get_mixed_precision_config
from mp_core.plan import show


@click.command("diff")
@click.argument("first")
@click.argument("second")
@json_option
def command(first: str, second: str, as_json: bool) -> None:
    """Show where two recipes differ."""
    one = get_mixed_precision_config(first).to_dict()
    two = get_mixed_precision_config(second).to_dict()
    names = [*one, *(name for name in two if name not in one)]
    pairs = [(name, one.get(name), two.get(name)) for name in names]
    differing = [pair for pair in pairs if pair[1] != pair[2]]
    if as_json:
        fields = [{"field": n, "first": a, "second": b} for n, a, b in differing]
        print_json({"first": first, "second": second, "fields": fields})
    else:
        _print(first, second, differing)


def _print(first: str, second: str, differing: list[tuple[str, object, object]]) -> None:
    from mp_core.render import page, table

    rows = [(name, show(one), show(two)) for name, one, two in differing]
    with page() as out:
        if rows:
            out.print(table(("field", first, second), rows))
        else:
            out.print(f"{first} and {second} hold the same values", markup=False)
