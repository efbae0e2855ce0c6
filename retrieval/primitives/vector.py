"""Fragments by meaning: cosine distance between the question and each visible fragment."""

from __future__ import annotations

import math
from typing import Any

from retrieval.model import ModelChanged, QuestionVector
from retrieval.primitives.filters import filter_values
from retrieval.question import FragmentFilter
from retrieval.ranking import Channel, Ranking, hit_of
from retrieval.reader import Reader, Rows
from retrieval.spending import uncounted
from retrieval.tuning import Tuning

NEAR, TWICE, EXACT = "vector_near", "vector_near_twice", "vector_exact"
"""The statements: through the index, through it from two sides, and by comparing every visible vector."""


async def vector(reader: Reader, question: QuestionVector, pool: int, filter: FragmentFilter) -> Ranking:
    """The `pool` nearest visible fragments; raw score is 1 - cosine distance.

    All visible fragments are compared while they are few; above `exact_most` the index is asked, and when it comes back short
    (a narrow filter, scattered rights) all are compared after all. Raises `ModelChanged` when the base holds vectors of another
    model than the question's: no statement compares the two.
    """
    statement = way(reader.store.tuning, (await reader.access()).fragment_count)
    if statement != EXACT:
        rows = await reader.rows(statement, *values(reader, question, pool, filter, statement))
        if len(rows) == pool:
            return ranking(rows, pool, exact=False)
    with uncounted(when=statement != EXACT):
        rows = await reader.rows(EXACT, *values(reader, question, pool, filter, EXACT))
    if not rows:
        await check_model(reader, question)
    return ranking(rows, pool, exact=True)


def way(tuning: Tuning, visible: int) -> str:
    """The statement for about so many visible fragments."""
    if visible <= tuning.exact_most:
        return EXACT
    return NEAR if visible < tuning.second_look_from else TWICE


def values(reader: Reader, question: QuestionVector, pool: int, filter: FragmentFilter, statement: str) -> list[Any]:
    """What the statement takes after the access."""
    spare = [] if statement == EXACT else [reader.store.tuning.index_spare]
    return [question.values, pool, *filter_values(reader.asked(filter)), *spare, question.model.number]


async def check_model(reader: Reader, question: QuestionVector) -> None:
    """Raise `ModelChanged` when nothing was found because the base holds vectors of another model."""
    current = await reader.current_model()
    if current != question.model:
        raise ModelChanged(current)


def ranking(rows: Rows, pool: int, exact: bool) -> Ranking:
    """Best first, ties by id; a stored vector of zeros has no direction, is like nothing and is left out."""
    hits = [hit for hit in map(hit_of, rows) if not math.isnan(hit.raw_score)]
    hits.sort(key=lambda hit: (-hit.raw_score, hit.ns, hit.item_id))
    return Ranking(Channel.VECTOR, tuple(hits), pool, exact)
