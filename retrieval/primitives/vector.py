"""Fragments by meaning: cosine distance between the question and each visible fragment."""

from __future__ import annotations

import math

from pgvector import HalfVector

from retrieval.model import ModelChanged, QuestionVector
from retrieval.primitives.filters import filter_values
from retrieval.question import FragmentFilter
from retrieval.ranking import Channel, Hit, Ranking
from retrieval.reader import Reader, Rows


async def vector(reader: Reader, question: QuestionVector, pool: int, filter: FragmentFilter) -> Ranking:
    """The `pool` nearest visible fragments; raw score is 1 - cosine distance.

    All visible fragments are compared while they are few; above `exact_most` the index is asked, and when it comes back short
    (a narrow filter, scattered rights) all are compared after all. Raises `ModelChanged` when the base holds vectors of another
    model than the question's: no statement compares the two.
    """
    tuning = reader.store.tuning
    asked = (HalfVector(question.values), pool, *filter_values(filter))
    number = question.model.number
    if (await reader.access()).fragment_count > tuning.exact_most:
        rows = await reader.rows("vector_near", *asked, tuning.index_spare, number)
        if len(rows) == pool:
            return ranking(rows, pool, exact=False)
    rows = await reader.rows("vector_exact", *asked, number)
    if not rows and (current := await reader.rights.current_model()) != question.model:
        raise ModelChanged(current)
    return ranking(rows, pool, exact=True)


def ranking(rows: Rows, pool: int, exact: bool) -> Ranking:
    """Best first, ties by id; a stored vector of zeros has no direction, is like nothing and is left out."""
    near = [row for row in rows if not math.isnan(row["similarity"])]
    hits = [Hit(row["ns"], row["fragment_id"], row["entity_id"], row["similarity"]) for row in near]
    hits.sort(key=lambda hit: (-hit.raw_score, hit.ns, hit.item_id))
    return Ranking(Channel.VECTOR, tuple(hits), pool, exact)
