"""Entities by exact filters, newest change first."""

from __future__ import annotations

from datetime import datetime

from retrieval.entity_filter import EntityFilter
from retrieval.primitives.filters import entity_filter_values
from retrieval.ranking import Channel, Hit, Ranking
from retrieval.reader import Reader


async def sql(reader: Reader, filter: EntityFilter, at: datetime, pool: int) -> Ranking:
    """The first `pool` visible entities that meet the filter, ties by id; the raw score is 1.

    Attributes are filtered as they hold `at`. Without a filter the list is empty, and nothing is asked.
    """
    rows = [] if filter.is_open else await reader.rows("sql", *entity_filter_values(reader.asked(filter), at), pool)
    hits = tuple(Hit(row["ns"], row["entity_id"], row["entity_id"], 1.0) for row in rows)
    return Ranking(Channel.SQL, hits, pool)
