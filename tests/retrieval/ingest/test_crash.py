"""Killing an ingest with SIGKILL: what was acknowledged is whole, nothing is half, the next run completes."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from multiprocessing.connection import Connection
from time import monotonic

import pytest

from retrieval.store import Store
from tests.fixtures.crashing import DOCUMENTS, SECTIONS, document, ingest_all
from tests.fixtures.writing import put, rows, values

pytestmark = pytest.mark.usefixtures("ns")

# One row a document: its content, the versions in its fragments and attributes, and what hangs on each fragment.
STATE = """
select e.key, s.content, array_agg(substring(f.text from 'версия(\\d+)')::int),
       (select v.attributes -> 'version' from entity_version v where v.entity_id = e.entity_id order by valid_from desc limit 1),
       count(l.fragment_id), count(coalesce(q.fragment_id, v.fragment_id)),
       (select count(*) from link k where k.entity_id = e.entity_id)
  from entity e left join source s using (ns, entity_id) left join fragment f using (ns, entity_id)
  left join fragment_lexemes l using (ns, fragment_id) left join embedding_queue q using (ns, fragment_id)
  left join fragment_vector v using (ns, fragment_id)
 group by e.ns, e.entity_id, e.key, s.content
"""
OTHERS = "select count(*) from pg_stat_activity where datname = current_database() and application_name = 'crashing'"
ORPHANS = """
select (select count(*) from embedding_queue q where not exists (select from fragment f where f.fragment_id = q.fragment_id))
     + (select count(*) from fact f where f.retracted_at is null
                                      and not exists (select from link l where l.fact_id = f.fact_id))
"""
UNPAIRED = """
select (select count(*) from audit where action = 'INGEST_SOURCES') - (select count(*) from entity_version)
     + (select count(*) from entity e
         where (select count(*) from audit a where a.action = 'INGEST_SOURCES' and e.entity_id = any(a.entities))
            <> (select count(*) from entity_version v where v.entity_id = e.entity_id))
"""
"""Each version of a document has other attributes, so that each write leaves a row of these and one of the audit."""


def run(url: str, store: Store, version: int, seconds: float) -> dict[int, str]:
    """Ingest a version in another process and kill it after a while; gives what it had acknowledged."""
    context = multiprocessing.get_context("forkserver")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=ingest_all, args=(url, store.base, version, sending))
    process.start()
    sending.close()
    acknowledged = dict(received(receiving, seconds))
    process.kill()
    process.join()
    acknowledged.update(received(receiving, 60))
    receiving.close()
    return acknowledged


def received(receiving: Connection, seconds: float) -> list[tuple[int, str]]:
    """What comes through a pipe within some seconds of the first message, or until its other end is gone."""
    found: list[tuple[int, str]] = []
    end = monotonic() + 60
    try:
        while receiving.poll(max(0.0, end - monotonic())):
            if not found:
                end = monotonic() + seconds
            found.append(receiving.recv())
    except EOFError:
        pass
    return found


async def check(store: Store, version: int, acknowledged: dict[int, str]) -> None:
    """Every document is one whole version; acknowledged ones are this version."""
    whole = {}
    for key, content, versions, attribute, worded, embeddable, links in await rows(store, STATE):
        number = int(key[1:].removesuffix(".md"))
        assert len(versions) == worded == embeddable == SECTIONS, key
        assert len({*versions, attribute}) == 1, key
        assert content == document(number, versions[0]).content
        assert links == 1
        whole[number] = versions[0]
    assert all(whole[number] == version for number in acknowledged)
    assert set(acknowledged.values()) <= {"CREATED", "UPDATED", "UNCHANGED"}
    assert await values(store, ORPHANS) == [0]
    assert await values(store, UNPAIRED) == [0], "no write without its row in the audit, and no row without its write"


async def kill_again_and_again(store: Store, base_url: str, times: int) -> int:
    """Kill ingests of ever new versions at random moments, then let one complete; gives how many were cut short."""
    cut_short = 0
    multiprocessing.get_context("forkserver").set_forkserver_preload(["tests.fixtures.crashing"])
    url, moments = f"{base_url}&application_name=crashing", random.Random(7)
    for version in range(times):
        acknowledged = await asyncio.to_thread(run, url, store, version, moments.uniform(0, 0.8))
        while await values(store, OTHERS) != [0]:
            await asyncio.sleep(0.02)
        await check(store, version, acknowledged)
        cut_short += len(acknowledged) < DOCUMENTS
    acknowledged = await asyncio.to_thread(run, url, store, times, 120)
    assert len(acknowledged) == DOCUMENTS
    await check(store, times, acknowledged)
    assert await values(store, "select count(*) from fact where retracted_at is null") == [DOCUMENTS]
    assert (await put(store, **given(document(0, times)))).outcome.value == "UNCHANGED"
    return cut_short


def given(source: object) -> dict[str, object]:
    """The fields of a test document."""
    return {name: getattr(source, name) for name in ("key", "content", "attributes")}


async def test_killed_at_thirty_moments_nothing_is_half_and_the_next_run_completes(store: Store, base_url: str) -> None:
    assert await kill_again_and_again(store, base_url, 30) >= 10, "most of them were killed in the middle"
