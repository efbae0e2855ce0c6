"""Draws precision and recall over the rerank score as a PNG; the library that draws is imported only then."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from app.evaluation.thresholds import Thresholds
from retrieval.errors import BadInput

LINES = (("precision", "#0b6e99", "-"), ("recall", "#b5532a", "-"), ("f1", "#8a8f98", "--"))
WIDTH, HEIGHT, DOTS = 8.0, 4.5, 150
"""Inches, and dots an inch."""


def can_draw() -> bool:
    """Whether the library that draws is installed: a server does not need it."""
    return find_spec("matplotlib") is not None


def picture_file(asked: Path | None) -> Path | None:
    """Where the picture goes: `asked`, else rerank.png, or nowhere without the library that draws.

    Raises `BadInput` when one is asked for that cannot be drawn.
    """
    if can_draw():
        return asked or Path("rerank.png")
    if asked is not None:
        raise BadInput("The picture is drawn by matplotlib, which is not installed; install contextql[pictures].")
    return None


def draw(found: Thresholds, file: Path) -> None:
    """Write the picture; raises `BadInput` when the file cannot be written."""
    figure: Any = import_module("matplotlib.figure").Figure(figsize=(WIDTH, HEIGHT), dpi=DOTS, layout="constrained")
    axes: Any = figure.subplots()
    points = found.points
    for name, colour, style in LINES:
        given = [(one.threshold, value) for one in points if (value := getattr(one, name)) is not None]
        label = "F1" if name == "f1" else name
        # Between two scores nothing changes until the next one is dropped.
        axes.step([x for x, _ in given], [y for _, y in given], style, where="pre", color=colour, label=label, linewidth=2)
    for point, name in found.proposals():
        axes.axvline(point.threshold, color="#444444", linewidth=1, linestyle=":")
        axes.annotate(
            f"{name}\n≥ {point.threshold:.2f}", (point.threshold, 0.02), xytext=(4, 0), textcoords="offset points", fontsize=8
        )
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="hits kept from this rerankScore on", ylabel="share")
    axes.set_title(
        f"{found.questions} questions, {len(found.verdicts)} hits judged, {found.relevant} relevant documents", fontsize=10
    )
    axes.grid(alpha=0.25)
    axes.legend(loc="lower left", framealpha=0.9)
    try:
        figure.savefig(file, format="png")
    except OSError as error:
        raise BadInput(f"{file} cannot be written: {error.strerror or error}.") from error
