"""What a reader may not see costs that reader next to nothing: a statement looks at as many pages with it as without it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.sql import PLANNED_ONCE, guarded
from retrieval.store import Store
from tests.fixtures.writing import ADMIN, DOCS

LEAF, SECRET = 2, 3
VISIBLE, HIDDEN = 20, 5_000
ENTITIES = """
    insert into entity (ns, entity_id, key_digest, key, kind, type, title, acl_id) overriding system value
    select $1::int, n, int4send(n), n::text, 'THING', 'x', 'x', case when n = 3 then 7 else 0 end from generate_series(1, 3) n"""
FACTS = """
    insert into fact (ns, fact_id, subject_id, predicate, object_id, value, recorded_at, retracted_at, evidence, has_places)
    select $1::int, $2::int + n, 1, p, case when p <> 'says' then $3::bigint end, case when p = 'says' then to_jsonb(n) end,
           '2020-01-01Z', case when n % 2 = 0 then timestamptz '2021-01-01Z' end, 1, p = 'says'
      from generate_series(1, $4::int) n, unnest(array['says', 'has', 'had']) p"""
PLACES = """
    insert into fact_place (ns, fact_id, entity_id)
    select distinct ns, fact_id, $2::bigint from fact where ns = $1 and fact_id > $3 and has_places"""
NODE = "array[{ns}], array[1]"
THEN = "'2020-06-01Z'"
LIST = "array[{{ns}}], array[1], array[true], array[true], array[null::jsonb], array[now()], array[{0}::timestamptz]"
PAGE = "array[null], array[null::bigint], array[100], 1000"
GROUP = "array[{{ns}}], array[1], array['says'], now(), {0}::timestamptz, null, null, '{{{{}}}}', 100"
READ = {
    "graph_hop": f"{NODE}, {NODE}, now(), null, array[true, false], 400, 40",
    "graph_hop_known": f"{NODE}, {NODE}, now(), null, array[true, false], 400, 40, {THEN}",
    "facts_around": f"{NODE}, array[0], now(), null, null, null, 100, 0, 1000",
    "facts_around as of then": f"{NODE}, array[0], now(), {THEN}, null, null, 100, 0, 1000",
    "facts_of": f"{LIST.format('null')}, {PAGE}",
    "facts_of as of then": f"{LIST.format(THEN)}, {PAGE}",
    "facts_of_counted": LIST.format("null"),
    "facts_of_counted as of then": LIST.format(THEN),
    "facts_beside": GROUP.format("null"),
    "facts_beside as of then": GROUP.format(THEN),
    "facts_in_conflict": "array[{ns}], array[1], array[now()], array[null::timestamptz], 100",
}


@pytest.mark.parametrize("read", READ)
async def test_what_is_hidden_costs_no_pages(store: Store, read: str) -> None:
    ns = (await create_namespace(store.database, ADMIN, DOCS)).ns
    async with store.database.writing() as connection:
        await connection.execute(ENTITIES, ns)
        await connection.execute("insert into predicate (ns, name, cardinality) values ($1, 'says', 'ONE')", ns)
        await fill(connection, ns, 1_000, LEAF, VISIBLE)
        name = read.split()[0]
        await connection.execute(f"prepare kept as {guarded(name)}")
        without = await pages(connection, ns, name, READ[read])
        await fill(connection, ns, 100_000, SECRET, HIDDEN)
        with_it = await pages(connection, ns, name, READ[read])
        assert await rows(connection, ns, name, READ[read])
    assert with_it <= 1.5 * without + 20, f"{without} pages without what is hidden, {with_it} with it"


async def fill(connection: Any, ns: int, first: int, other: int, number: int) -> None:
    """Facts of the hub, a third of them values, half of them retracted, that lead to an entity and are stated there."""
    await connection.execute(FACTS, ns, first, other, number)
    await connection.execute(PLACES, ns, other, first)
    await connection.execute("select refresh_edges($1, array(select fact_id from fact where fact_id > $2))", ns, first)


def asked(ns: int, name: str, values: str) -> str:
    """The call of a statement by somebody who reads what is not restricted."""
    return f"execute kept(array[{ns}], array[0], '{{}}', {values.format(ns=ns)}, {name in PLANNED_ONCE})"


async def rows(connection: Any, ns: int, name: str, values: str) -> int:
    return sum(row["present"] is not None for row in await connection.fetch(asked(ns, name, values)))


async def pages(connection: Any, ns: int, name: str, values: str) -> int:
    """How many pages a statement looks at when it has run before: the least of three, since it may have to look at catalogues."""
    for _ in range(2):
        await connection.fetch(asked(ns, name, values))
    seen = []
    for _ in range(3):
        (told,) = json.loads(await connection.fetchval(f"explain (analyze, buffers, format json) {asked(ns, name, values)}"))
        seen.append(int(told["Plan"]["Shared Hit Blocks"]) + int(told["Plan"]["Shared Read Blocks"]))
    return min(seen)
