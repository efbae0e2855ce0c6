"""The sql channel: exactly the entities that meet the filter, newest change first, and nothing without a filter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.entity_filter import EntityFilter
from retrieval.keys import key_digest
from retrieval.primitives.filters import entity_filter_values
from retrieval.primitives.sql import sql
from retrieval.ranking import Channel
from retrieval.sql import guarded
from retrieval.store import Store
from tests.fixtures.world import session_for
from tests.fixtures.writing import ADMIN, DOCS

START = datetime(2026, 1, 1, tzinfo=UTC)
NOW = START + timedelta(days=1_000)
INSERT = """insert into entity (ns, key_digest, key, kind, type, title, status, source_path, meta, relevance_scopes, occurred_at,
                                created_at, updated_at) values (1, $1, $2, $3, $4, $2, $5, $6, $7, $8, $9, $10, $11)
            returning entity_id"""
ROWS: dict[str, dict[str, Any]] = {
    "page": {"kind": "DOCUMENT", "type": "page", "meta": '{"tag": "a", "deep": {"x": [1, 2]}}', "updated": 1},
    "note": {"kind": "OBSERVATION", "type": "note", "occurred": 5, "scopes": ["project:x", "project:y"], "updated": 9},
    "open": {"kind": "THING", "type": "ticket", "status": "open", "path": "/desk", "updated": 5},
    "shut": {"kind": "THING", "type": "ticket", "status": "shut", "path": "/desk/old", "created": 4, "updated": 5},
}
VERSIONS = [("open", 0, '{"owner": "ann", "size": 3}'), ("open", 10, '{"owner": "bob"}'), ("shut", 0, '{"owner": "ann"}')]


def day(number: int) -> datetime:
    return START + timedelta(days=number)


@pytest.fixture
async def filled(store: Store) -> Store:
    """A base with four entities."""
    await create_namespace(store.database, ADMIN, DOCS)
    async with store.database.writing() as connection:
        ids = {}
        for key, row in ROWS.items():
            ids[key] = await connection.fetchval(
                INSERT, key_digest(key), key, row["kind"], row["type"], row.get("status"), row.get("path"), row.get("meta", "{}"),
                row.get("scopes", []), day(row["occurred"]) if "occurred" in row else None, day(row.get("created", 0)),
                day(row["updated"]),
            )  # fmt: skip
        for key, since, attributes in VERSIONS:
            await connection.execute(
                "insert into entity_version (ns, entity_id, valid_from, attributes) values (1, $1, $2, $3)",
                ids[key], day(since), attributes,
            )  # fmt: skip
    return store


async def found(store: Store, at: datetime = NOW, pool: int = 20, **parts: Any) -> list[str]:
    """The keys of the list, in order."""
    async with session_for(store, None) as session:
        spaces = await session.spaces(None)
        ranking = await sql(session.reader(spaces), EntityFilter(**parts), at, pool)
        assert (ranking.channel, ranking.asked) == (Channel.SQL, pool)
        assert {hit.raw_score for hit in ranking.hits} <= {1.0}
        entities = await (await session.catalogue()).entities.many((hit.ns, hit.entity_id) for hit in ranking.hits)
        return [entity.key for entity in entities if entity is not None]


CASES: list[tuple[dict[str, Any], list[str]]] = [
    ({"kinds": ("THING", "DOCUMENT")}, ["open", "shut", "page"]),
    ({"types": ("note", "page")}, ["note", "page"]),
    ({"statuses": ("open",)}, ["open"]),
    ({"source_paths": ("/desk",)}, ["open"]),
    ({"keys": ("shut", "page", "absent")}, ["shut", "page"]),
    ({"meta": '{"tag": "a"}'}, ["page"]),
    ({"meta": '{"deep": {"x": [2]}}'}, ["page"]),
    ({"meta": '{"tag": "b"}'}, []),
    ({"meta": "{}"}, ["note", "open", "shut", "page"]),
    ({"attributes": '{"owner": "bob"}'}, ["open"]),
    ({"attributes": '{"owner": "ann"}'}, ["shut"]),
    ({"attributes": '{"unknown": null}'}, []),
    ({"attributes": "{}"}, ["note", "open", "shut", "page"]),
    ({"relevance_scopes": ("project:y", "project:z")}, ["note"]),
    ({"created_after": day(3)}, ["shut"]),
    ({"created_before": day(4)}, ["note", "open", "page"]),
    ({"updated_after": day(1), "updated_before": day(9)}, ["open", "shut"]),
    ({"updated_after": day(9), "updated_before": day(1)}, []),
    ({"occurred_after": day(4)}, ["note"]),
    ({"occurred_before": day(5)}, []),
    ({"kinds": ("THING",), "statuses": ("shut",)}, ["shut"]),
    *(({part: ()}, []) for part in ("kinds", "types", "statuses", "source_paths", "keys", "relevance_scopes")),
]


async def test_each_part_of_the_filter_admits_what_it_says(filled: Store) -> None:
    for parts, wanted in CASES:
        assert await found(filled, **parts) == wanted, parts


async def test_attributes_are_those_in_force_at_the_instant(filled: Store) -> None:
    assert await found(filled, at=day(9), attributes='{"owner": "ann"}') == ["open", "shut"]
    assert await found(filled, at=day(10), attributes='{"owner": "ann"}') == ["shut"]
    assert await found(filled, at=day(-1), attributes='{"owner": "ann"}') == []


async def test_the_pool_cuts_the_list_after_ordering(filled: Store) -> None:
    assert await found(filled, pool=2, attributes="{}") == ["note", "open"]


async def test_without_a_filter_nothing_is_found_and_nothing_is_asked(filled: Store) -> None:
    asked = []
    filled.observer = type("Watching", (), {"statement": lambda _, name, seconds: asked.append(name)})()
    assert await found(filled) == []
    assert "sql" not in asked
    assert await found(filled, attributes="{}") != []
    assert "sql" in asked


async def test_the_rule_is_put_into_the_statement_and_uses_the_index_of_keys(filled: Store) -> None:
    filter = entity_filter_values(EntityFilter(keys=("a", "b")), NOW)
    async with filled.database.writing() as connection:
        await connection.execute(
            """insert into entity (ns, key_digest, key, kind, type, title)
               select 1, int4send(n), n::text, 'THING', 'x', 'x' from generate_series(1, 3000) n"""
        )
        await connection.execute("analyze entity")
        rows = await connection.fetch(f"explain {guarded('sql')}", [1], [0], [], *filter, 20, False)
    plan = "\n".join(row[0] for row in rows)
    assert "visible_entities" not in plan
    assert "SubPlan" not in plan
    assert "entity_ns_key_digest_key" in plan
