"""Facts loaded from JSON Lines against a bare COPY of the same rows, and lists of facts as of an instant against bare SQL."""

from __future__ import annotations

import asyncio
import io
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from time import perf_counter

from app.bench.line import Line
from app.bench.world import World
from app.sessions import Identity
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.rights import local_administrator
from retrieval.database import Database
from retrieval.facts import FactPage, FactQuestion
from retrieval.ingest.bulk import refresh_plans
from retrieval.ingest.fact_loading import load_facts
from retrieval.migrations import prepare
from retrieval.primitives.graph import Direction
from retrieval.session import Session
from retrieval.store import Store
from retrieval.tuning import Tuning

LEAST_RATE, MOST_TIMES = 0.25, 3.0
FACTS, ENTITIES, PREDICATES = 20_000, 10_000, 10
"""Like yago11k."""
TURNS = 3
ASKED, PAGE, ROUNDS, WARM_UP = 20, 20, 100, 10
AT = datetime(1950, 6, 1, tzinfo=UTC)
FAR = 1_000_000_000
"""Numbers of copied rows are so much higher for each copy, so that none is there already."""
COPIES = {
    "entity": (
        "ns, entity_id, key_digest, key, kind, type, title",
        "select $1::int, entity_id + $3::bigint, key_digest, key, kind, type, title from entity where ns = $2::int",
    ),
    "fact": (
        "ns, row_id, fact_id, subject_id, predicate, object_id, value, valid_from, valid_to, recorded_at, evidence",
        "select $1::int, row_id + $3::bigint, fact_id + $3, subject_id + $3, predicate, object_id + $3, value, valid_from, "
        "valid_to, recorded_at, evidence from fact where ns = $2::int",
    ),
    "edge": (
        "ns, entity_id, outgoing, far_acl, place_acl, predicate, row_id, far_id, valid_from, valid_to, fact_id",
        "select $1::int, entity_id + $3::bigint, outgoing, far_acl, place_acl, predicate, row_id + $3, far_id + $3, valid_from, "
        "valid_to, fact_id + $3 from edge where ns = $2::int",
    ),
}
"""The tables that a load fills: their columns, and the rows of one namespace as those of another."""
BARE = """
    select s.place, f.*
      from unnest($2::bigint[]) with ordinality as s(entity_id, place)
     cross join lateral (
        select f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to
          from fact f
         where f.ns = $1 and f.subject_id = s.entity_id and f.retracted_at is null
           and (f.valid_from is null or f.valid_from <= $3) and (f.valid_to is null or f.valid_to > $3)
         order by f.predicate, f.fact_id limit 21) f"""
BARE_KEPT = f"{BARE}\n where $4::planned_once is not null"
"""The same with a plan that is kept, as ours is; the role has all others planned for their values."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Median seconds of lists of facts: by the loader under access, by bare SQL, by bare SQL whose plan is kept."""

    ours: float
    bare: float
    kept: float


async def facts_against_bare_sql(world: World) -> list[Line]:
    """The rate of loading against COPY, the best of some turns each, and the medians of lists of facts, in turns."""
    base = await prepare(world.url, search_config=Tuning().search_config, embedding_model=None, dimensions=None)
    database = await Database.open(world.url, size=2)
    lines = list(invented(world.times(FACTS), world.times(ENTITIES)))
    loads, copies = list[float](), list[float]()
    try:
        for turn in range(TURNS):
            name = f"facts {turn}"
            ns = (await create_namespace(database, local_administrator(), name)).ns
            started = perf_counter()
            await load_facts(database, local_administrator(), name, lines, create_type="thing")
            loads.append(perf_counter() - started)
            copies.append(await copied(database, ns, turn + 1))
        await refresh_plans(database)
        listed = await asked(Store(database, base, Tuning(), None), ns, AT)
    finally:
        await database.close()
    note = f"{len(lines) / min(loads):,.0f} facts/s against {len(lines) / min(copies):,.0f} by COPY, {len(lines):,} facts"
    return [
        Line("facts-load-of-copy", min(copies) / min(loads), LEAST_RATE, note=note, least=True),
        as_of_line("facts-as-of-of-bare-sql", listed, world.times(ENTITIES)),
    ]


def as_of_line(name: str, listed: Asked, entities: int) -> Line:
    """The promise of lists of facts as of an instant."""
    against = f"{1000 * listed.bare:.2f} ms, {1000 * listed.kept:.2f} with a kept plan"
    note = f"p50 {1000 * listed.ours:.2f} ms against {against}, {ASKED} entities of {entities:,}"
    return Line(name, listed.ours / listed.bare, MOST_TIMES, note=note)


def invented(facts: int, entities: int) -> Iterator[str]:
    """Lines of facts that hold for some years."""
    chance = random.Random(7)
    for _ in range(facts):
        since = chance.randrange(1800, 2000)
        subject, object_ = (f"thing {chance.randrange(entities)}" for _ in range(2))
        years = {"validFrom": f"{since}-01-01T00:00:00Z", "validTo": f"{since + chance.randrange(1, 60)}-01-01T00:00:00Z"}
        yield json.dumps(
            {"subject": subject, "predicate": f"predicate {chance.randrange(PREDICATES)}", "object": object_} | years
        )


async def copied(database: Database, ns: int, turn: int) -> float:
    """The seconds of a COPY of all that a load wrote, into the same tables of another namespace."""
    other = (await create_namespace(database, local_administrator(), f"copy of facts {turn}")).ns
    data = {table: io.BytesIO() for table in COPIES}
    async with database.reading() as connection:
        for table, (_, query) in COPIES.items():
            await connection.copy_from_query(query, other, ns, turn * FAR, output=data[table], format="binary")
    seconds = 0.0
    for table, (columns, _) in COPIES.items():
        data[table].seek(0)
        started = perf_counter()
        async with database.writing() as connection:
            await connection.copy_to_table(table, source=data[table], columns=columns.split(", "), format="binary")
        seconds += perf_counter() - started
        async with database.writing() as connection:
            await connection.execute("analyze entity")  # or each check of a foreign key reads the whole namespace
    return seconds


async def asked(store: Store, ns: int, at: datetime) -> Asked:
    """The facts of some entities as of an instant, each way in turn; who is first reads pages for the others, so that changes."""
    async with store.database.reading() as connection:
        rows = await connection.fetch("select entity_id from entity where ns = $1 order by entity_id", ns)
    chance, everything = random.Random(8), [row["entity_id"] for row in rows]
    times: tuple[list[float], ...] = ([], [], [])
    for number in range(WARM_UP + ROUNDS):
        some = chance.sample(everything, ASKED)
        for turn in range(len(times)):
            way = (number + turn) % len(times)
            times[way].append(await WAYS[way](store, ns, some, at))
    return Asked(*(median(seconds[WARM_UP:]) for seconds in times))


async def through_sql(store: Store, text: str, *values: object) -> float:
    """The seconds of one statement."""
    started = perf_counter()
    async with store.database.reading() as connection:
        await connection.fetch(text, *values)
    return perf_counter() - started


async def through_loaders(store: Store, ns: int, entities: list[int], at: datetime) -> float:
    """The seconds of `facts(asOf:, direction: OUT) { nodes }` of some entities, once the caller's rights are resolved."""
    deadline = asyncio.get_running_loop().time() + 60
    async with Session(store, Identity(None, True), deadline=deadline) as session:
        pages = (await session.catalogue()).time.pages
        await session.access()
        questions = [FactQuestion(ns, entity, None, Direction.OUT, at, None) for entity in entities]
        started = perf_counter()
        await asyncio.gather(*(pages.one(FactPage(question, None, PAGE + 1)) for question in questions))
        return perf_counter() - started


async def through_bare_sql(store: Store, ns: int, entities: list[int], at: datetime) -> float:
    """The seconds of bare SQL that is planned for its values."""
    return await through_sql(store, BARE, ns, entities, at)


async def through_kept_sql(store: Store, ns: int, entities: list[int], at: datetime) -> float:
    """The seconds of bare SQL whose plan is kept."""
    return await through_sql(store, BARE_KEPT, ns, entities, at, True)


WAYS = (through_loaders, through_bare_sql, through_kept_sql)
