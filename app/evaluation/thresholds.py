"""From which rerank score on a hit is worth showing: precision and recall at every threshold, and two that are proposed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson
from rich.table import Table

PRECISE = 0.9
"""The precision that the second proposal keeps."""
ROWS = 20
"""Steps of the table between 0 and 1."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A hit that was judged: its rerank score, and whether the control question names its document as relevant."""

    score: float
    relevant: bool


@dataclass(frozen=True, slots=True)
class Point:
    """What is left of the hits when those below a threshold are dropped; without any, precision is None."""

    threshold: float
    kept: int
    precision: float | None
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The verdicts on the hits of control questions. `relevant` counts the relevant documents, found or not; `lost` the questions
    whose rerank failed, which are in nothing else."""

    questions: int
    lost: int
    relevant: int
    verdicts: tuple[Verdict, ...]

    def at(self, threshold: float) -> Point:
        """Precision, recall and F1 of the hits from a threshold on."""
        kept = [one for one in self.verdicts if one.score >= threshold]
        good = sum(one.relevant for one in kept)
        f1 = 2 * good / (len(kept) + self.relevant) if kept or self.relevant else 0.0
        return Point(threshold, len(kept), good / len(kept) if kept else None, good / max(1, self.relevant), f1)

    @property
    def points(self) -> list[Point]:
        """A point at every score that was given, the lowest first."""
        return [self.at(score) for score in sorted({one.score for one in self.verdicts})]

    @property
    def best(self) -> Point | None:
        """The highest F1; of several the highest threshold. None where nothing relevant was judged."""
        points = [one for one in self.points if one.f1 > 0]
        return max(points, key=lambda one: (one.f1, one.threshold), default=None)

    @property
    def precise(self) -> Point | None:
        """The least threshold from which on nine hits of ten are relevant; None where there is none."""
        return next((one for one in self.points if one.precision is not None and one.precision >= PRECISE), None)

    def json(self) -> str:
        """All of it as JSON text, figures to six digits."""
        body = {
            "questions": self.questions,
            "lost": self.lost,
            "relevant": self.relevant,
            "judged": len(self.verdicts),
            "proposed": {"bestF1": plain(self.best), "precision90": plain(self.precise)},
            "points": [plain(one) for one in self.points],
        }
        return orjson.dumps(body, option=orjson.OPT_INDENT_2).decode()

    def table(self) -> Table:
        """Twenty even steps and the proposals, for people."""
        table = Table("rerankScore ≥", "hits kept", "precision", "recall", "F1", "")
        marks = {one.threshold: name for one, name in self.proposals()}
        for threshold in sorted({*(step / ROWS for step in range(ROWS + 1)), *marks}):
            one = self.at(threshold)
            figures = ["–" if value is None else f"{value:.3f}" for value in (one.precision, one.recall, one.f1)]
            table.add_row(f"{threshold:.2f}", str(one.kept), *figures, marks.get(threshold, ""))
        return table

    def proposals(self) -> Iterable[tuple[Point, str]]:
        """The proposed points with what speaks for each; one that is both has one name."""
        best, precise = self.best, self.precise
        if best is not None and best == precise:
            return [(best, "best F1, and nine of ten are relevant")]
        named: Sequence[tuple[Point | None, str]] = ((best, "best F1"), (precise, "nine of ten are relevant"))
        return [(point, name) for point, name in named if point is not None]


def plain(point: Point | None) -> dict[str, Any] | None:
    """A point as JSON has it."""
    if point is None:
        return None
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in asdict(point).items()}
