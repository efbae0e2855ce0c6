"""Many facts that are asked for their conflicts at once: each gets those of the statement that asks for one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.facts import Doubt
from retrieval.store import Store
from retrieval.tuning import CONFLICTS_NAMED_MOST, CONFLICTS_READ_AT_ONCE
from tests.fixtures.world import opened, recorder, session_for
from tests.fixtures.writing import ADMIN, DOCS

AT = datetime(2026, 1, 1, tzinfo=UTC)
FACTS = """
    insert into fact (ns, fact_id, subject_id, predicate, value, evidence, valid_from)
    select $1, n, 1, p, to_jsonb(n / 2), 1, case when n = 3 then timestamptz '2027-01-01Z' end
      from generate_series(1, $2::int) n, unnest(array['says', 'likes']) p returning row_id, fact_id, predicate"""


@pytest.mark.parametrize("many", [30, CONFLICTS_NAMED_MOST + 60, CONFLICTS_READ_AT_ONCE + 2])
async def test_each_of_many_facts_gets_its_conflicts(base_url: str, many: int) -> None:
    async with opened(base_url) as store:
        await check(store, many)


async def check(store: Store, many: int) -> None:
    """Compare the conflicts of each fact with those that a plain search finds."""
    ns = (await create_namespace(store.database, ADMIN, DOCS)).ns
    async with store.database.writing() as connection:
        await connection.execute(
            "insert into entity (ns, entity_id, key_digest, key, kind, type, title) overriding system value "
            "values ($1, 1, 'a', 'a', 'THING', 'x', 'x')",
            ns,
        )
        await connection.execute("insert into predicate (ns, name, cardinality) values ($1, 'says', 'ONE')", ns)
        rows = await connection.fetch(FACTS, ns, many)
    async with session_for(store, None) as session:
        loader = (await session.catalogue()).time.conflicts
        recorder(store).forget()
        doubts = [Doubt(ns, row["row_id"], 1, row["predicate"], AT, None) for row in rows]
        found = await loader.many(doubts)
    wanted = {
        row["row_id"]: []
        if row["predicate"] == "likes" or row["fact_id"] == 3
        else [n for n in range(1, many + 1) if n != 3 and n // 2 != row["fact_id"] // 2][:CONFLICTS_NAMED_MOST]
        for row in rows
    }
    told = {doubt.row_id: [fact.fact_id for fact in facts or ()] for doubt, facts in zip(doubts, found, strict=True)}
    assert told == wanted
    assert recorder(store).counted == {"facts_beside": 1} | ({"facts_in_conflict": 1} if many > CONFLICTS_READ_AT_ONCE else {})
