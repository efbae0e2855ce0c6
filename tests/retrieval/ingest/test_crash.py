"""Killing an ingest with SIGKILL: what was acknowledged is whole, nothing is half, the next run completes."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from time import monotonic, sleep

import pytest

from retrieval.store import Store
from tests.fixtures.crashing import DOCUMENTS, SECTIONS, document, ingest_some
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


def run(url: str, store: Store, version: int, whole: int, share: float) -> dict[int, str]:
    """Ingest a version in another process, and kill it when so many documents are acknowledged and a share of the next is
    stored, by the time that those took; gives what it had acknowledged."""
    context = multiprocessing.get_context("forkserver")
    receiving, sending = context.Pipe(duplex=False)
    count = min(whole + 2, DOCUMENTS)
    process = context.Process(target=ingest_some, args=(url, store.base, version, count, sending))
    process.start()
    sending.close()
    acknowledged, times = {}, []
    while len(acknowledged) < whole:
        assert receiving.poll(60)
        acknowledged.update([receiving.recv()])
        times.append(monotonic())
    sleep(share * (times[-1] - times[0]) / (len(times) - 1))
    process.kill()
    process.join()
    acknowledged.update(left(receiving))
    receiving.close()
    return acknowledged


def left(receiving: Connection) -> Iterator[tuple[int, str]]:
    """What is still in a pipe whose other end is gone."""
    with suppress(EOFError):
        while True:
            yield receiving.recv()


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


async def kill_again_and_again(store: Store, base_url: str, times: int) -> None:
    """Kill ingests of ever new versions at random moments of their writes, then let one complete."""
    multiprocessing.get_context("forkserver").set_forkserver_preload(["tests.fixtures.crashing"])
    url, moments = f"{base_url}&application_name=crashing", random.Random(7)
    for version in range(times):
        whole, share = moments.randrange(2, DOCUMENTS // 10), moments.uniform(0, 1.2)
        acknowledged = await asyncio.to_thread(run, url, store, version, whole, share)
        while await values(store, OTHERS) != [0]:
            await asyncio.sleep(0.02)
        await check(store, version, acknowledged)
        assert whole <= len(acknowledged) <= whole + 2, "killed in the middle"
    acknowledged = await asyncio.to_thread(run, url, store, times, DOCUMENTS, 0)
    assert len(acknowledged) == DOCUMENTS
    await check(store, times, acknowledged)
    assert await values(store, "select count(*) from fact where retracted_at is null") == [DOCUMENTS]
    assert (await put(store, **given(document(0, times)))).outcome.value == "UNCHANGED"


def given(source: object) -> dict[str, object]:
    """The fields of a test document."""
    return {name: getattr(source, name) for name in ("key", "content", "attributes")}


async def test_killed_at_thirty_moments_nothing_is_half_and_the_next_run_completes(store: Store, base_url: str) -> None:
    await kill_again_and_again(store, base_url, 30)
