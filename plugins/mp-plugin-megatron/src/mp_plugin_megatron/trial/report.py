"""The end of a run, for a person: what was asked, what is, and how the loss went."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from mp_core.render import page, table

WIDTH, HEIGHT = 56, 8
MARKS = {"agrees": "", "differs": "DIFFERS", "not run": "not run"}


def print_result(result: dict[str, Any]) -> None:
    """Print the table *asked / effective*, the loss curve, and one closing line."""
    rows = [
        (row["what"], row["asked"], row["effective"], MARKS[row["verdict"]])
        for row in result["effective"]
    ]
    with page() as out:
        out.print(table(("", "asked", "effective", ""), rows))
        out.print(Text(f"\n{_scaling(result)}{_agreement(result)}\n"))
        for line in curve(result["losses"]):
            out.print(Text(line))
        out.print(Text(f"\n{closing_line(result)}"))


def _scaling(result: dict[str, Any]) -> str:
    skipped, scales = result["skipped"], result["loss_scales"]
    if not skipped:
        return ""
    fell = f"the loss scale went from {scales[0]:.0f} to {result['final_loss_scale']:.0f}"
    return f"{len(skipped)} of {len(scales)} steps overflowed and were skipped; {fell}.\n"


def _agreement(result: dict[str, Any]) -> str:
    if result["ranks"] == 1:
        return "One rank: nothing to compare."
    verdict = "hold equal parameters" if result["ranks_agree"] else "DISAGREE"
    return f"All {result['ranks']} ranks {verdict}."


def closing_line(result: dict[str, Any]) -> str:
    """Return the recipe, the ranks, and the first and last loss in one line."""
    losses = result["losses"]
    ranks = f"{result['ranks']} rank{'s' if result['ranks'] > 1 else ''}"
    run = f"{result['recipe']}: {ranks}, {len(losses)} steps"
    return f"{run}, loss {losses[0]:.3f} -> {losses[-1]:.3f}"


def curve(losses: list[float]) -> list[str]:
    """Return the loss by step as lines of a plot."""
    from uniplot import plot_to_string

    text: str = plot_to_string(
        ys=losses,
        xs=list(range(1, len(losses) + 1)),
        title="loss by step",
        lines=True,
        color=False,
        width=WIDTH,
        height=HEIGHT,
    )
    return text.splitlines()
