"""What packs are made of, beside the fragments of the open base: things, facts, relevance scopes, observations."""

from __future__ import annotations

import inspect
import sys
from collections import defaultdict
from datetime import UTC, datetime, timedelta

import numpy as np

from app.bench.at_size.corpus import FRAGMENTS_OF_DOCUMENT, Corpus
from app.bench.at_size.loading import namespace_names
from app.bench.at_size.world import OPEN, SizedWorld, kept
from retrieval.administration.rights import local_administrator
from retrieval.database import Database
from retrieval.domain.applying import apply_pack
from retrieval.domain.pack import DomainPack
from retrieval.ingest.bulk import Prepared, load, refresh_plans
from retrieval.ingest.edges import refresh_edges
from retrieval.ingest.statistics import refresh_statistics

PACKS = "bench_packs"
PROJECTS = 50
DOCUMENTS_OF_OBSERVATION = 4
WORDS_OF_OBSERVATION = 20
FACTS_AT_ONCE = 10_000
LAST_NOTE = datetime(2026, 11, 1, tzinfo=UTC)
RELATIONS = ("depends_on", "owned_by", "replaces", "described_in")
PACK = DomainPack.model_validate(
    {
        "name": "bench", "version": "1.0.0", "types": {"thing": {}, "document": {}, "observation": {}},
        "predicates": {name: {"subjects": ["thing"], "objects": ["thing", "document"]} for name in RELATIONS}
        | {"state": {"cardinality": "one", "subjects": ["thing"], "value": "string"}},
    }
)  # fmt: skip

# A thing for each document, beside it and in its project; every third document is in the project too.
THINGS = """
    with made as (
        insert into entity (ns, key_digest, key, kind, type, title, status, relevance_scopes, updated_at)
        select e.ns, sha256(convert_to('thing-' || n.number, 'UTF8')), 'thing-' || n.number, 'THING', 'thing', e.title, 'active',
               array['project:' || n.number % $1::int], $2::timestamptz - n.number % 400 * interval '1 day'
          from entity e cross join lateral (select substr(e.key, 5)::int as number) n
         where e.kind = 'DOCUMENT' order by e.ns, n.number
        returning ns, entity_id, key
    )
    insert into entity_version (ns, entity_id, attributes)
    select m.ns, m.entity_id, jsonb_build_object('owner', 'team ' || length(m.key), 'key', m.key, 'tier', m.entity_id % 4)
      from made m"""
PROJECTS_OF_DOCUMENTS = """
    update entity e
       set updated_at = $2::timestamptz - n.number % 400 * interval '1 day',
           relevance_scopes = case when n.number % 3 = 0 then array['project:' || n.number % $1::int] else '{}' end
      from (select ns, entity_id, substr(key, 5)::int as number from entity where kind = 'DOCUMENT') n
     where e.ns = n.ns and e.entity_id = n.entity_id"""
# Five facts of each thing: three lead to other things of its namespace, one to its document, one says its state; one thing in
# fifty is said to be in two states. All are stated by the document, one in three has ended.
FACTS = """
    with things as materialized (
        select e.ns, e.entity_id, e.relevance_scopes, substr(e.key, 7)::int as number, d.entity_id as document_id,
               row_number() over (partition by e.ns order by e.entity_id) - 1 as place, count(*) over (partition by e.ns) as many
          from entity e
          join entity d on d.ns = e.ns and d.key_digest = sha256(convert_to('doc-' || substr(e.key, 7), 'UTF8'))
         where e.kind = 'THING'
    ), said as (
        select s.*, way, nextval('fact_id') as fact_id, case when way = 3 then s.document_id else o.entity_id end as object_id
          from things s cross join generate_series(0, 5) way
          left join things o on o.ns = s.ns and way < 3 and o.place = (s.place * 31 + way * 7919 + 1) % s.many
         where way < 5 or s.number % 50 = 0
    ), stated as (
        insert into fact (ns, fact_id, subject_id, predicate, object_id, value, valid_from, valid_to, evidence, relevance_scopes,
                          has_places)
        select s.ns, s.fact_id, s.entity_id,
               ($1::text[] || array['state', 'state'])[way + 1],
               s.object_id, case when way >= 4 then to_jsonb('state ' || s.number % 7 + way) end,
               timestamptz '2020-01-01Z' + s.number % 1500 * interval '1 day',
               case when s.number % 3 = 0 and way < 3 then timestamptz '2025-01-01Z' end, 1 + (s.number + way) % 3,
               case when way % 2 = 0 then s.relevance_scopes else '{}' end, true
          from said s
        returning ns, fact_id
    ), placed as (
        insert into fact_place (ns, fact_id, entity_id) select s.ns, s.fact_id, s.document_id from said s
    )
    select ns, fact_id from stated order by ns, fact_id"""


async def pack_world(world: SizedWorld) -> str:
    """The URL of a base with the rows of the open one and, for each document, one thing, five facts, a quarter of a note."""

    async def fill(url: str) -> None:
        world.embedded.sql(f"drop database {PACKS}")
        world.embedded.sql(f"create database {PACKS} template {OPEN} strategy file_copy")
        await fill_packs(url, world.corpus)

    made_by = inspect.getsource(sys.modules[__name__])
    return await kept(world.embedded, PACKS, fill, world.corpus, world.say, made_by)


async def fill_packs(url: str, corpus: Corpus) -> None:
    """Add what packs need to a copy of the open base."""
    database = await Database.open(url, size=2)
    try:
        async with database.writing() as connection:
            await connection.execute("set local statement_timeout = 0")
            await connection.execute(PROJECTS_OF_DOCUMENTS, PROJECTS, LAST_NOTE)
            await connection.execute(THINGS, PROJECTS, LAST_NOTE)
            await connection.execute("analyze entity")
        await state_facts(database)
        for name in namespace_names():
            await apply_pack(database, local_administrator(), name, PACK)
        await observe(database, corpus)
        await refresh_plans(database)
    finally:
        await database.close()


async def state_facts(database: Database) -> None:
    """Store the facts and what walks read of them, namespace by namespace."""
    facts = defaultdict[int, list[int]](list)
    async with database.writing() as connection:
        await connection.execute("set local statement_timeout = 0")
        for row in await connection.fetch(FACTS, list(RELATIONS)):
            facts[row["ns"]].append(row["fact_id"])
        await connection.execute("analyze fact, fact_place")
    for ns, ids in facts.items():
        for start in range(0, len(ids), FACTS_AT_ONCE):
            async with database.writing() as connection:
                await connection.execute("set local statement_timeout = 0")
                await refresh_edges(connection, ns, ids[start : start + FACTS_AT_ONCE])
                await connection.execute("analyze edge")


async def observe(database: Database, corpus: Corpus) -> None:
    """Store the observations, each in the namespace and near the meaning of a document; one in ten is of no project."""
    async with database.reading() as connection:
        spaces = {row["name"]: row["ns"] for row in await connection.fetch("select ns, name from namespace")}
    notes = defaultdict[str, list[Prepared]](list)
    for number, document in enumerate(range(0, corpus.documents, DOCUMENTS_OF_OBSERVATION)):
        notes[f"space-{corpus.spaces[document]}"].append(note(corpus, number, document))
    for name, prepared in notes.items():
        async for _ in load(database, spaces[name], prepared):
            pass
        await refresh_statistics(database, spaces[name])


def note(corpus: Corpus, number: int, document: int) -> Prepared:
    """An observation: words of a fragment of the document, a meaning between two of its fragments, of a project of its own."""
    first = document * FRAGMENTS_OF_DOCUMENT
    text = " ".join(corpus.text(first).split()[:WORDS_OF_OBSERVATION])
    between = corpus.vectors[first] + corpus.vectors[first + 1]
    return Prepared(
        f"note-{number}", f"Note {number}", text, vector=between / np.linalg.norm(between), kind="OBSERVATION",
        occurred_at=LAST_NOTE - timedelta(hours=number * 7919 % 9000),
        scopes=() if number % 10 == 0 else (f"project:{number * 7 % PROJECTS}",),
    )  # fmt: skip
