"""Fragments of observations by relevance scope, latest first."""

from __future__ import annotations

from retrieval.primitives.filters import scope_values
from retrieval.question import ScopeRule
from retrieval.ranking import Channel, Ranking, hit_of
from retrieval.reader import Reader


async def recent(reader: Reader, rule: ScopeRule, pool: int) -> Ranking:
    """The `pool` latest visible ones that pass a rule which requests a scope, ties by namespace and id.

    The raw score is the instant of the observation (when it occurred, else when it was changed), in seconds since 1970.
    """
    many = len(reader.spaces) > reader.store.tuning.spaces_by_key_most
    rows = await reader.rows("recent", *scope_values(rule), pool, many)
    return Ranking(Channel.RECENT, tuple(map(hit_of, rows)), pool)
