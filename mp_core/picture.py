"""Stacked bars of what recipes cost, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mp_core.errors import MixedPrecisionError

#: Distinct for people who see colours otherwise too: Okabe and Ito, "Color Universal Design".
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")


def draw(
    bars: Sequence[tuple[str, Mapping[str, float]]], path: str, unit: tuple[str, float]
) -> None:
    """Write a stacked bar for each recipe to *path*, whose ending is the format.

    unit: its name, and how many bytes it is. Raises MixedPrecisionError without matplotlib, or
    for a file that cannot be written.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        message = "the picture needs matplotlib, which is not installed"
        raise MixedPrecisionError(f"{message}: pip install 'mp-core[plot]'") from error
    figure = Figure(figsize=(9, 1.6 + 0.5 * len(bars)), layout="constrained")
    axes, names = figure.subplots(), [name for name, _ in bars]
    left = [0.0] * len(bars)
    for part, colour in zip(bars[0][1], COLOURS, strict=True):
        widths = [parts[part] / unit[1] for _, parts in bars]
        axes.barh(names, widths, left=left, label=part, color=colour)
        left = [before + width for before, width in zip(left, widths, strict=True)]
    for place, total in enumerate(left):
        axes.text(total, place, f" {total:.1f}", va="center")
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.set_xlabel(f"{unit[0]}, without activations")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=len(COLOURS), frameon=False)
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise MixedPrecisionError(f"the picture cannot be written to {path}: {error}") from error
