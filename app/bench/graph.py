"""A walk of three steps from a hub of 50,000 edges, all visible or all hidden, against one from an ordinary entity."""

from __future__ import annotations

import asyncio
from statistics import median
from time import perf_counter

from app.bench.line import Line
from app.bench.world import World
from app.sessions import Identity
from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.administration.rights import local_administrator
from retrieval.administration.tokens import create_token, token_digest
from retrieval.database import Database
from retrieval.ingest.bulk import refresh_plans
from retrieval.ingest.edges import refresh_edges
from retrieval.migrations import prepare
from retrieval.session import Session
from retrieval.store import Store
from retrieval.subgraph import EntityRef, make_graph_question
from retrieval.tuning import Tuning

BOUND = 3.0
EDGES = 50_000
FACTS_OF_ENTITY = 4
ROUNDS = 60
WARM_UP = 5
NAMESPACE, READER = "graph", "reader of the graph"

# e0 leads to e1 … en, which are open and lead to each other; the last entity leads to the others, each restricted by itself.
ENTITIES = """
    insert into entity (ns, acl_id, key_digest, key, kind, type, title)
    select $1, case when i between $2::int + 1 and 2 * $2 then nextval('acl_id') else 0 end,
           sha256(convert_to('e' || i, 'UTF8')), 'e' || i, 'THING', 'thing', 'e' || i
      from generate_series(0, 2 * $2 + 1) i"""
FACTS = """
    with numbered as materialized (select entity_id, substr(key, 2)::int as i from entity where ns = $1)
    insert into fact (ns, fact_id, subject_id, predicate, object_id, evidence)
    select $1, nextval('fact_id'), s.entity_id, 'links_to', o.entity_id, 2
      from (select 0 as subject, i as object from generate_series(1, $2::int) i
            union all select 2 * $2 + 1, $2 + i from generate_series(1, $2) i
            union all select i, (1 + (i::bigint * 7919 + way * 10473) % $2)::int
                        from generate_series(1, $2) i, generate_series(1, $3::int) way) l
      join numbered s on s.i = l.subject join numbered o on o.i = l.object
    returning fact_id"""


async def graph_from_a_hub_against_an_ordinary_start(world: World) -> list[Line]:
    """The ratio of the median times of walks with what they found, as a reader to whom nothing restricted is granted."""
    base = await prepare(world.url, search_config=Tuning().search_config, embedding_model=None, dimensions=None)
    database = await Database.open(world.url, size=2)
    edges = world.times(EDGES)
    starts = {"ordinary": "e{}", "visible": "e0", "hidden": f"e{2 * edges + 1}"}
    times: dict[str, list[float]] = {name: [] for name in starts}
    try:
        token = await fill(database, edges)
        store = Store(database, base, Tuning(), None)
        for number in range(WARM_UP + ROUNDS):
            for name, start in starts.items():
                started = perf_counter()
                await walk(store, token, start.format(1 + 97 * number))
                times[name].append(perf_counter() - started)
    finally:
        await database.close()
    p50 = {name: 1000 * median(seconds[WARM_UP:]) for name, seconds in times.items()}
    return [line(name, p50[name], p50["ordinary"], edges) for name in ("visible", "hidden")]


def line(name: str, ours: float, ordinary: float, edges: int) -> Line:
    """One promise."""
    note = f"p50 {ours:.2f} ms against {ordinary:.2f} ms, 3 steps, {edges:,} edges"
    return Line(f"graph-{name}-hub-of-ordinary", ours / ordinary, BOUND, note=note)


async def fill(database: Database, edges: int) -> str:
    """Store the hubs and what they lead to; gives the token of a reader."""
    admin = local_administrator()
    ns = (await create_namespace(database, admin, NAMESPACE)).ns
    await upsert_principals(database, admin, [PrincipalInput(READER, "SERVICE")])
    await grant(database, admin, READER, NAMESPACE)
    async with database.writing() as connection:
        await connection.execute("set local statement_timeout = 0")
        await connection.execute(ENTITIES, ns, edges)
        await connection.execute("analyze entity")  # or the planner takes the namespace for an empty one
        stated = await connection.fetch(FACTS, ns, edges, FACTS_OF_ENTITY)
        await connection.execute("analyze fact")
        await refresh_edges(connection, ns, [row["fact_id"] for row in stated])
    await refresh_plans(database)
    return (await create_token(database, admin, READER)).token


async def walk(store: Store, token: str, key: str) -> None:
    """What `graph { entities { entity { title } via { predicate } } facts { factId } truncated }` does."""
    deadline = asyncio.get_running_loop().time() + 60
    async with Session(store, Identity(token_digest(token), False), deadline=deadline) as session:
        run = await session.graph(make_graph_question(store.tuning, [EntityRef(NAMESPACE, key)], hops=3))
        await asyncio.gather(run.entities, run.facts, run.truncated)
