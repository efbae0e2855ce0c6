"""A typed walk of five steps, each up to five facts deep, against the same hops and the same rows as bare SQL without rights."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from statistics import median
from time import perf_counter

from app.bench.facts import as_of_line, asked
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
from retrieval.tuning import Tuning
from retrieval.typed.question import Anchor, StepOrigin, TypedStep, make_typed_question

BOUND = 3.0
ENTITIES, FACTS, PREDICATES = 150_000, 1_000_000, 4
ROUNDS, WARM_UP = 60, 5
AT_ONCE = 50_000
AT = datetime(2026, 1, 1, tzinfo=UTC)
NAMESPACE, READER = "typed", "reader of typed walks"

MADE = """
    insert into entity (ns, key_digest, key, kind, type, title)
    select $1, sha256(convert_to('t' || i, 'UTF8')), 't' || i, 'THING', 'thing', 't' || i from generate_series(0, $2::int - 1) i
    returning entity_id"""
STATED = """
    insert into fact (ns, fact_id, subject_id, predicate, object_id, evidence, valid_from)
    select $1, nextval('fact_id'), $2 + (i::bigint * 7919) % $3, 'p' || (i::bigint * 31 / 7) % $4::int,
           $2 + (i::bigint * 104729 + i / 7) % $3, 3, timestamptz '2020-01-01Z' + i % 3000 * interval '1 day'
      from generate_series($5::int, $6::int - 1) i
    returning fact_id"""
HOP = """
    select distinct f.object_id, f.row_id from fact f
     where f.ns = $1 and f.subject_id = any($2::bigint[]) and f.predicate = $3 and f.retracted_at is null
       and (f.valid_from is null or f.valid_from <= $4) and (f.valid_to is null or f.valid_to > $4)
     order by f.object_id"""
THINGS = """
    select e.*, v.version_id, v.attributes
      from entity e
      left join lateral (select v.version_id, v.attributes from entity_version v
                          where v.ns = e.ns and v.entity_id = e.entity_id and v.valid_from <= $3
                          order by v.valid_from desc limit 1) v on true
     where e.ns = $1 and e.entity_id = any($2::bigint[])"""
ROWS = "select f.* from fact f where f.ns = $1 and f.row_id = any($2::bigint[])"
STEPS = tuple(
    TypedStep(f"p{number % PREDICATES}", depth=5, origin=StepOrigin.PREVIOUS if number % 2 else StepOrigin.ANCHORS)
    for number in range(5)
)


async def typed_walks_against_bare_sql(world: World) -> list[Line]:
    """The ratios of the median times: of the walk alone, and of all that `sections`, `facts` and `used` need."""
    base = await prepare(world.url, search_config=Tuning().search_config, embedding_model=None, dimensions=None)
    database = await Database.open(world.url, size=4)
    entities, facts = world.times(ENTITIES), world.times(FACTS)
    times: dict[str, list[float]] = {"hops": [], "walk": [], "bare hops": [], "bare walk": []}
    found = list[int]()
    try:
        token, ns, first = await fill(database, entities, facts)
        store = Store(database, base, Tuning(), None)
        for number in range(WARM_UP + ROUNDS):
            start = 97 * number % entities
            hops, whole, items = await walked(store, token, f"t{start}")
            bare_hops, bare_whole = await hopped(store, ns, first + start)
            for name, seconds in zip(times, (hops, whole, bare_hops, bare_whole), strict=True):
                times[name].append(seconds)
            found.append(items)
        listed = await asked(store, ns, AT)
    finally:
        await database.close()
    p50 = {name: 1000 * median(seconds[WARM_UP:]) for name, seconds in times.items()}
    size = f"5 steps of depth 5, {median(found):.0f} entities of {entities:,}, {facts:,} facts"
    walks = [line(name, p50[name], p50[f"bare {name}"], size) for name in ("hops", "walk")]
    return [*walks, as_of_line("facts-as-of-of-bare-sql-at-size", listed, entities)]


def line(name: str, ours: float, bare: float, size: str) -> Line:
    """One promise."""
    return Line(f"typed-{name}-of-bare-sql", ours / bare, BOUND, note=f"p50 {ours:.2f} ms against {bare:.2f} ms, {size}")


async def fill(database: Database, entities: int, facts: int) -> tuple[str, int, int]:
    """Store the things and what is said of them; gives the token of a reader, the namespace, and the first entity."""
    admin = local_administrator()
    ns = (await create_namespace(database, admin, NAMESPACE)).ns
    await upsert_principals(database, admin, [PrincipalInput(READER, "SERVICE")])
    await grant(database, admin, READER, NAMESPACE)
    async with database.writing() as connection:
        await connection.execute("set local statement_timeout = 0")
        first = min(row["entity_id"] for row in await connection.fetch(MADE, ns, entities))
        await connection.execute("analyze entity")  # or the planner takes the namespace for an empty one
    for start in range(0, facts, AT_ONCE):
        async with database.writing() as connection:
            await connection.execute("set local statement_timeout = 0")
            until = min(start + AT_ONCE, facts)
            stated = await connection.fetch(STATED, ns, first, entities, PREDICATES, start, until)
            await refresh_edges(connection, ns, [row["fact_id"] for row in stated])
            if start == 0:
                await connection.execute("analyze fact, edge")
    await refresh_plans(database)
    return (await create_token(database, admin, READER)).token, ns, first


async def walked(store: Store, token: str, key: str) -> tuple[float, float, int]:
    """The seconds of the walk and of the whole answer, from the resolved rights on, and how many entities it found."""
    deadline = asyncio.get_running_loop().time() + 60
    async with Session(store, Identity(token_digest(token), False), deadline=deadline) as session:
        await session.access()
        started = perf_counter()
        asked = make_typed_question(store.tuning, [Anchor("thing", key)], STEPS)
        run = await session.typed(asked)
        await run.truncated
        walk = perf_counter() - started
        sections, _, _ = await asyncio.gather(run.sections, run.facts, run.used)
        return walk, perf_counter() - started, sum(len(section.items) for section in sections)


async def hopped(store: Store, ns: int, anchor: int) -> tuple[float, float]:
    """The seconds of the same hops with the same limits, a statement each, and with the rows that were found."""
    started = perf_counter()
    known, before, facts = {anchor}, {anchor}, set[int]()
    async with store.database.reading() as connection:
        at = await connection.fetchval("select now()")
        for step in STEPS:
            front = seen = {anchor} if step.origin is StepOrigin.ANCHORS else before
            left, before = step.limit, set[int]()
            for _ in range(step.depth):
                rows = await connection.fetch(HOP, ns, list(front), step.relation, at)
                reached = dict.fromkeys(row["object_id"] for row in rows)
                new = [one for one in reached if one not in known][:left]
                left, known = left - len(new), known | set(new)
                before |= reached.keys() & known
                front = (reached.keys() & known) - seen
                seen = seen | front
                facts.update(row["row_id"] for row in rows if row["object_id"] in known)
        hops = perf_counter() - started
        await connection.fetch(THINGS, ns, list(known), at)
        await connection.fetch(ROWS, ns, list(facts))
    return hops, perf_counter() - started
