"""Who asserts a fact finds those that say the same, and reads no others where none can end it or be in conflict with it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.ingest.fact_input import FactInput
from retrieval.ingest.facts import Assertions
from retrieval.ingest.sql import statement
from retrieval.keys import key_digest
from retrieval.outcomes import Outcome
from retrieval.store import Store
from tests.fixtures.writing import ADMIN, DOCS

MANY = 500
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
EQUAL = [(1, 1.0, "UPDATED"), (1, True, "CREATED"), ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, "UPDATED"), ("é", "e", "CREATED")]
"""Two values, and what becomes of the fact that says the second beside one that says the first."""
LOOKED_UP = (
    statement("equal_facts").replace("$2", "'{1}'").replace("$3", "'{p}'").replace("$4", "'{2}'").replace("$5", "'{null}'")
)


@pytest.fixture
async def ns(store: Store) -> int:
    """A namespace whose `hub` has many values and leads to many things."""
    ns = (await create_namespace(store.database, ADMIN, DOCS)).ns
    async with store.database.writing() as connection:
        keys = ["hub", "s", *(f"o{number}" for number in range(10))]
        await connection.execute(
            "insert into entity (ns, key_digest, key, kind, type, title) select $1, digest, key, 'THING', 'thing', key "
            "from unnest($2::bytea[], $3::text[]) g(digest, key)",
            ns, [key_digest(key) for key in keys], keys,
        )  # fmt: skip
        await connection.execute(
            "insert into fact (ns, fact_id, subject_id, predicate, object_id, value, evidence) "
            "select $1, nextval('fact_id'), (select entity_id from entity where key = 'hub'), p, "
            "case when p = 'has' then e.entity_id end, case when p = 'says' then to_jsonb(n) end, 1 "
            "from generate_series(1, $2::int) n join entity e on e.key = 'o' || n % 9, unnest(array['has', 'says']) p",
            ns, MANY,
        )  # fmt: skip
    return ns


async def asserted(store: Store, ns: int, *facts: FactInput) -> tuple[list[str], int]:
    """What became of facts, and how many facts of the record were read for it."""
    async with store.database.writing() as connection:
        assertions = Assertions(connection, ns)
        return [one.outcome.name for one in await assertions.write(facts)], len(assertions.before)


@pytest.mark.parametrize("said", [{"predicate": "has", "object": "o9"}, {"predicate": "says", "value": MANY + 1}])
async def test_a_fact_beside_many_of_its_subject_and_predicate_reads_none_of_them(
    store: Store, ns: int, said: dict[str, Any]
) -> None:
    assert await asserted(store, ns, FactInput("hub", **said)) == (["CREATED"], 0)
    assert await asserted(store, ns, FactInput("hub", **said)) == (["UNCHANGED"], 1)


async def test_a_fact_that_is_given_again_in_the_same_call_is_unchanged_until_it_is_given_otherwise(
    store: Store, ns: int
) -> None:
    given = [FactInput("s", "p", value=1, evidence=evidence) for evidence in (1, 1, 2, 2)]
    assert await asserted(store, ns, *given) == (["CREATED", "UNCHANGED", "UPDATED", "UNCHANGED"], 0)
    assert await asserted(store, ns, given[-1]) == (["UNCHANGED"], 1)


async def test_where_one_fact_ends_others_all_of_them_are_read(store: Store, ns: int) -> None:
    assert await asserted(store, ns, FactInput("hub", "says", value=-1, valid_from=SINCE, supersede=True)) == (["CREATED"], MANY)
    later = FactInput("hub", "says", value=-2, valid_from=datetime(2025, 1, 1, tzinfo=UTC))
    assert await asserted(store, ns, later) == (["CREATED"], MANY + 1)
    async with store.database.reading() as connection:
        assert await connection.fetchval("select valid_to from fact where value = '-2'") == SINCE
        await connection.execute("insert into predicate (ns, name, cardinality) values ($1, 'has', 'ONE')", ns)
    assert await asserted(store, ns, FactInput("hub", "has", object="o9")) == (["CREATED"], MANY)


@pytest.mark.parametrize(("first", "second", "outcome"), EQUAL)
async def test_values_that_are_equal_to_the_database_are_one_fact(
    store: Store, ns: int, first: Any, second: Any, outcome: str
) -> None:
    given = [FactInput("s", "p", value=first, evidence=1), FactInput("s", "p", value=second, evidence=2)]
    assert [(await asserted(store, ns, one))[0] for one in given] == [[Outcome.CREATED.name], [outcome]]


async def test_facts_are_looked_up_by_what_they_say(store: Store, ns: int) -> None:
    async with store.database.reading() as connection:
        await connection.execute("analyze fact")
        assert "fact_saying" in "".join(row[0] for row in await connection.fetch(f"explain {LOOKED_UP}", ns))
