"""Search by meaning for callers who see all of a base or little of it: what it finds of the nearest, and how long it takes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np

from app.bench.at_size.asking import POOL, open_base, question_by_meaning, session_of
from app.bench.at_size.corpus import Corpus
from app.bench.at_size.lance import Lance, lance
from app.bench.at_size.loading import places_of
from app.bench.at_size.shares import Case, token_of
from app.bench.at_size.world import SizedWorld
from app.bench.line import Line
from retrieval.question import Question
from retrieval.store import Store

RECALLED = 10
MEAN_LEAST, WORST_LEAST = 0.99, 0.9
P50_MOST, P95_MOST = 1 / 3, 1.0
P50_MOST_OF_A_TENTH, P95_MOST_OF_A_TENTH = 1.1, 1.5
WARM_UP = 20


@dataclass(slots=True)
class Side:
    """What one side found and took, question by question."""

    recalls: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    short: int = 0

    def note(self, found: list[int], seconds: float, truth: set[int], rows: int) -> None:
        """Count one answer against the nearest that the caller may see."""
        self.recalls.append(len(truth.intersection(found[:RECALLED])) / len(truth))
        self.seconds.append(seconds)
        self.short += len(found) < rows

    def milliseconds(self, part: float) -> float:
        """A quantile of the times."""
        return float(1000 * np.quantile(self.seconds, part))


async def nearest_under_rights(world: SizedWorld) -> AsyncIterator[Line]:
    """Both sides in turn, question by question; our time has rights resolved from grants, LanceDB's has its own filter."""
    async with open_base(world.restricted) as store, lance(world.folder / "lance", world.corpus, world.cases) as other:
        places = await places_of(store.database)
        questions = [question_by_meaning(store, world.corpus, number) for number in range(world.sizes.questions)]
        for number, case in enumerate(world.cases):
            world.say(f"nearest of {case.name}")
            token = await token_of(store.database, case)
            truths = truths_of(world.corpus, case)
            for warm_up in range(min(WARM_UP, len(questions))):
                await ask_ours(store, token, questions[warm_up])
                await other.search(number, warm_up, POOL)
            rows = min(POOL, len(case.fragments))
            sides = await both(store, token, other, number, questions, places, truths, rows)
            for line in lines(case, *sides):
                yield line


async def both(
    store: Store, token: str, other: Lance, case: int, questions: list[Question], places: dict[tuple[int, int], int],
    truths: list[set[int]], rows: int,
) -> tuple[Side, Side]:  # fmt: skip
    """Every question once to each side, taking turns in who is first."""
    ours, theirs = Side(), Side()
    for at, (question, truth) in enumerate(zip(questions, truths, strict=True)):
        for turn in (at % 2, 1 - at % 2):
            if turn:
                found, seconds = await other.search(case, at, POOL)
                theirs.note(found, seconds, truth, rows)
            else:
                hits, seconds = await ask_ours(store, token, question)
                ours.note([places[hit] for hit in hits], seconds, truth, rows)
    return ours, theirs


async def ask_ours(store: Store, token: str, question: Question) -> tuple[list[tuple[int, int]], float]:
    """The fragments of the vector list of a request that has just proven who asks, and the seconds from there."""
    async with session_of(store, token) as session:
        started = perf_counter()
        ranking = await (await session.search(question)).lists.vector_pool
        return [(hit.ns, hit.item_id) for hit in ranking.hits], perf_counter() - started


def truths_of(corpus: Corpus, case: Case) -> list[set[int]]:
    """The ten nearest of the visible fragments, compared one by one in 32 bits, for each question."""
    fragments = case.fragments
    likeness: np.ndarray[Any, np.dtype[np.float32]] = corpus.asked @ corpus.vectors[fragments].T
    count = min(RECALLED, len(fragments))
    best = np.argpartition(-likeness, count - 1, axis=1)[:, :count]
    return [set(fragments[row].tolist()) for row in best]


def lines(case: Case, ours: Side, theirs: Side) -> list[Line]:
    """What is promised of one case."""
    name, count = f"nearest-{case.name}", len(ours.recalls)
    tenth = case.share == 0.1
    bounds = {0.5: P50_MOST_OF_A_TENTH if tenth else P50_MOST, 0.95: P95_MOST_OF_A_TENTH if tenth else P95_MOST}
    times = {part: (ours.milliseconds(part), theirs.milliseconds(part)) for part in bounds}
    return [
        recall(f"{name}-recall-mean", fmean(ours.recalls), fmean(theirs.recalls), MEAN_LEAST),
        recall(f"{name}-recall-worst", min(ours.recalls), min(theirs.recalls), WORST_LEAST),
        Line(f"{name}-short-lists", ours.short, 0, "", f"of {count}; LanceDB {theirs.short}", digits=0),
        *(
            Line(f"{name}-p{100 * part:.0f}-of-lancedb", one / other, bounds[part], note=f"{one:.2f} ms against {other:.2f} ms")
            for part, (one, other) in times.items()
        ),
    ]


def recall(name: str, ours: float, theirs: float, least: float) -> Line:
    """One figure of what was found."""
    return Line(name, ours, least, "", f"LanceDB {theirs:.4f}", least=True, digits=4)
