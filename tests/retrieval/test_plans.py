"""Look-ups by key keep their plans, whatever runs beside them; statements that rank are planned for their values."""

from __future__ import annotations

import asyncio
import re

import pytest

from app.sessions import Identity
from retrieval.administration.namespaces import create_namespace
from retrieval.entity_filter import EntityFilter
from retrieval.primitives.filters import entity_filter_values
from retrieval.reader import Reader
from retrieval.session import Session
from retrieval.sql import PLANNED_ONCE, guarded, statement
from retrieval.store import Store
from tests.contract.test_sql import ALWAYS
from tests.fixtures.writing import ADMIN, DOCS

KEPT, PLANNED = "entities_by_key", "sql"
MADE = """
    insert into entity (ns, key_digest, key, kind, type, title)
    select $1, int4send(n), n::text, 'THING', 'x', 'x' from generate_series($2::int, $3::int) n"""


@pytest.fixture
async def ns(store: Store) -> int:
    """A namespace with a few entities that the planner knows of."""
    ns = (await create_namespace(store.database, ADMIN, DOCS)).ns
    async with store.database.writing() as connection:
        await connection.execute(MADE, ns, 1, 12)
        await connection.execute("analyze entity")
    return ns


async def both(reader: Reader, ns: int) -> None:
    """A look-up, then a statement that ranks."""
    await reader.rows(KEPT, [ns], [b"\0\0\0\1"])
    await reader.rows(PLANNED, *entity_filter_values(EntityFilter(), ALWAYS), 20)


async def test_each_statement_of_a_transaction_is_planned_as_it_should_be(store: Store, ns: int) -> None:
    async with Session(store, Identity(None, True), deadline=asyncio.get_running_loop().time() + 30) as session:
        reader = session.reader((await session.caller).spaces)
        async with reader.one_moment() as moment:
            for _ in range(7):
                await both(moment, ns)
        for _ in range(7):
            await both(reader, ns)
    async with store.database.reading() as connection:
        found = await connection.fetch("select statement, generic_plans, custom_plans from pg_prepared_statements")
        assert await connection.fetchval("show plan_cache_mode") == "force_custom_plan", "it is gone with its transaction"
    plans = {row["statement"]: (row["generic_plans"], row["custom_plans"]) for row in found}
    assert plans[guarded(KEPT)] == (14, 0)
    assert plans[guarded(PLANNED)] == (0, 14)


async def test_a_plan_that_was_made_of_a_small_base_reads_by_key_when_it_has_grown(store: Store, ns: int) -> None:
    asked = f"explain execute kept(array[{ns}], array[0], array[{ns}], array[{ns}], array['\\x00000001'::bytea], true)"
    async with store.database.writing() as connection:  # what is not committed is analysed by nobody
        await connection.execute(f"prepare kept as {guarded(KEPT)}")
        before = await connection.fetch(asked)
        await connection.execute(MADE, ns, 13, 5_000)
        assert await connection.fetch(asked) == before, "nothing told PostgreSQL that it has grown"
    assert not any("Seq Scan on entity" in row[0] for row in before)


@pytest.mark.parametrize("name", sorted(PLANNED_ONCE))
def test_a_kept_plan_is_given_each_key_with_its_namespace(name: str) -> None:
    # Of a list of namespaces beside a list of keys, a plan made of a small base reads whole namespaces.
    assert "any($4)" not in statement(name)


MADE_EDGES = """
    insert into edge (ns, entity_id, outgoing, far_acl, place_acl, predicate, row_id, far_id, fact_id)
    select ns, n, true, n, 0, 'x', n, n, 1000 * ns + n from generate_series(1, 400) ns, generate_series(1, $1::int) n"""


def test_walks_of_the_past_are_those_of_the_present_over_other_edges() -> None:
    now, then = (re.sub(r"^--.*\n", "", statement(name), flags=re.MULTILINE) for name in ("graph_hop", "graph_hop_known"))
    assert then == now.replace("from edge e", "from edges_known($13) e") != now


@pytest.mark.parametrize("edges", [0, 30])
async def test_the_plan_of_a_walk_asks_for_permission_by_key(store: Store, ns: int, edges: int) -> None:
    async with store.database.writing() as connection:
        await connection.execute(MADE_EDGES, edges)
        await connection.execute("analyze edge")
        await connection.execute(f"prepare kept as {guarded('graph_hop')}")
        here, node = f"array[{ns}]", "array[1]"
        given = f"{here}, array[0], '{{}}', {here}, {node}, {here}, {node}, now(), null, array[true], 400, 40, true"
        plan = [row[0] for row in await connection.fetch(f"explain execute kept({given})")]
    reads = [line for line in plan if " on edge " in line]
    assert len(reads) == 4
    assert all("edge_pkey" in line for line in reads), "\n".join(plan)
    assert sum("(far_acl = ANY ($2)) AND (place_acl = ANY ($2))" in line for line in plan if "Index Cond" in line) == 2
    assert not any("Sort Key: e_" in line and "far_acl" in line for line in plan), "edges come in the order of the index"
