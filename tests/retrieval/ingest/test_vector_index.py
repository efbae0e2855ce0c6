"""The index over vectors is built when there are many, after a load, by one process; a broken one is made anew."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import asyncpg
import numpy as np
import pytest
from pgvector import HalfVector

from retrieval.ingest.bulk import Prepared, load
from retrieval.ingest.statistics import refresh_statistics
from retrieval.ingest.vector_index import CREATE, IndexState, build_index, index_state, should_build, should_drop, tend_index
from retrieval.store import Store
from retrieval.tuning import INDEX_WAIT_SECONDS, Tuning
from tests.fixtures.embedders import HashEmbedder
from tests.fixtures.world import execute
from tests.fixtures.writing import put, values

VALID = "select indisvalid from pg_index where indexrelid = to_regclass('fragment_vector_near')"
KILL = """select pg_terminate_backend(pid) from pg_stat_progress_create_index
           where datname = current_database() and relid = 'fragment_vector'::regclass and phase like 'building%'"""
SEARCH = '{ search(question: "слово7", k: 20) { vector { fragment { card { key } } } } }'
SMALL = Tuning(index_from=100, exact_most=200)


class Told:
    """An observer that remembers what it was told of the index."""

    def __init__(self) -> None:
        self.unindexed_vectors: list[int] = []

    def statement(self, name: str, seconds: float) -> None:
        """Of no interest."""

    def provider_call(self, name: str, texts: int, seconds: float) -> None:
        """Of no interest."""

    def unindexed(self, vectors: int) -> None:
        self.unindexed_vectors.append(vectors)

    def degraded(self, part: str, code: str) -> None:
        """Of no interest."""


@pytest.fixture
async def loaded(store: Store, ns: int) -> Store:
    """A base with 300 fragments and their vectors, whose numbers are small enough for it to count as large."""
    await grow(store, ns, 0, 300)
    return replace(store, tuning=SMALL, observer=Told())


async def grow(store: Store, ns: int, start: int, end: int) -> None:
    """Store documents with vectors."""
    embedder = HashEmbedder()
    made = (Prepared(f"d{n}", f"T{n}", f"слово{n}", vector=embedder.vector(f"T{n}\nслово{n}")) for n in range(start, end))
    async for _ in load(store.database, ns, made):
        pass
    await refresh_statistics(store.database, ns)


def told(store: Store) -> list[int]:
    """What the observer was told, and forgets."""
    assert isinstance(store.observer, Told)
    found, store.observer.unindexed_vectors = store.observer.unindexed_vectors, []
    return found


def nearest(count: int, most: int) -> list[str]:
    """The keys that are nearest to the question of `SEARCH`."""
    embedder = HashEmbedder()
    vectors = np.stack([embedder.vector(f"T{n}\nслово{n}") for n in range(count)])
    return [f"d{n}" for n in np.argsort(-(vectors @ embedder.vector("слово7")), kind="stable")[:most]]


async def found(store: Store) -> list[str]:
    """What the search by meaning finds."""
    answer: dict[str, Any] = await execute(store, SEARCH)
    return [hit["fragment"]["card"]["key"] for hit in answer["data"]["search"]["vector"]]


async def test_a_small_base_has_none_and_a_large_one_is_given_it(store: Store, ns: int) -> None:
    small = replace(store, tuning=SMALL, observer=Told())
    await grow(store, ns, 0, 90)
    assert not await tend_index(small, "one")
    await grow(store, ns, 90, 300)
    assert await found(small) == nearest(300, 20), "without it all are compared"
    assert await tend_index(small, "one")
    assert told(small) == [0, 201, 0], "while it is missing that is told, with as many as were counted"
    assert await values(store, VALID) == [True]
    assert len(set(await found(small)) & set(nearest(300, 20))) >= 18
    assert not await tend_index(small, "one")
    assert told(small) == [0]


async def test_while_a_load_goes_on_it_waits_but_not_for_ever(loaded: Store, ns: int) -> None:
    async with loaded.database.writing() as connection:
        await connection.execute("insert into embedding_queue (ns, fragment_id) select $1, g from generate_series(1, 50) g", ns)
    assert not await tend_index(loaded, "one")
    assert told(loaded) == [201]
    async with loaded.database.writing() as connection:
        await connection.execute(
            "update base set index_due_since = index_due_since - make_interval(secs => $1)", INDEX_WAIT_SECONDS + 1
        )
    assert await tend_index(loaded, "another"), "every process knows since when it is due"
    assert await values(loaded, VALID) == [True]


async def test_the_end_of_a_load_is_told_by_whoever_loads(loaded: Store, ns: int) -> None:
    async with loaded.database.writing() as connection:
        await connection.execute("insert into embedding_queue (ns, fragment_id) select $1, g from generate_series(1, 50) g", ns)
    assert await tend_index(loaded, "one", load_is_over=True)
    assert await values(loaded, VALID) == [True]


async def test_a_load_that_dwarfs_the_base_is_loaded_without_it(loaded: Store, ns: int) -> None:
    await build_index(loaded.database)
    many = replace(loaded, tuning=Tuning(index_from=100, exact_most=1_000))
    async with loaded.database.writing() as connection:
        await connection.execute("insert into embedding_queue (ns, fragment_id) select $1, g from generate_series(1, 1300) g", ns)
    assert not await tend_index(loaded, "one"), "readers go through it"
    assert await values(loaded, VALID) == [True]
    assert await tend_index(many, "one"), "nobody reads through it yet"
    assert await values(loaded, VALID) == []
    async with loaded.database.writing() as connection:
        await connection.execute("delete from embedding_queue")
    assert await tend_index(many, "one")
    assert await values(loaded, VALID) == [True]


async def test_one_process_builds_and_the_others_go_on(loaded: Store) -> None:
    done = await asyncio.gather(*(tend_index(loaded, f"holder {number}") for number in range(4)))
    assert sorted(done) == [False, False, False, True]
    assert await values(loaded, VALID) == [True]


async def test_a_build_that_was_killed_leaves_search_right_and_is_made_anew(loaded: Store, base_url: str) -> None:
    await grow(loaded, 1, 300, 4_000)
    async with asyncio.timeout(120):
        while not await killed_while_building(loaded, base_url):
            pass
    assert await values(loaded, VALID) == [False], "half built"
    assert await found(loaded) == nearest(4_000, 20)
    async with loaded.database.reading() as reading:
        state = await index_state(reading, 10)
    assert state is not None
    assert (state.present, state.valid, state.building) == (True, False, False)
    assert await tend_index(loaded, "one")
    assert await values(loaded, VALID) == [True]
    assert told(loaded)[-1] == 0


async def killed_while_building(store: Store, url: str) -> bool:
    """Kill a build in the middle; false when it came to its end first, and then nothing is left of it."""
    connection = await asyncpg.connect(url)
    building, killed = asyncio.create_task(connection.execute(CREATE["fragment_vector"])), list[Any]()
    while not killed and not building.done():
        killed = await values(store, KILL)
    await asyncio.gather(building, return_exceptions=True)
    connection.terminate()
    if await values(store, VALID) == [False]:
        return True
    async with store.database.writing() as connection:
        await connection.execute("drop index if exists fragment_vector_near")
    return False


async def test_whoever_still_builds_is_left_alone(loaded: Store, base_url: str) -> None:
    """A process that was killed may leave its build running in the database: its lease lapses, its work goes on."""
    blocker, builder = await asyncpg.connect(base_url), await asyncpg.connect(base_url)
    transaction = blocker.transaction()
    await transaction.start()
    await blocker.execute("update fragment_vector set acl_id = acl_id where fragment_id = 1")  # the build waits for it
    building = asyncio.create_task(builder.execute(CREATE["fragment_vector"]))
    building_here = "select count(*) from pg_stat_progress_create_index where datname = current_database()"
    while await values(loaded, building_here) == [0]:
        await asyncio.sleep(0.02)
    assert not await tend_index(loaded, "another", load_is_over=True)
    await transaction.rollback()
    await building
    assert await values(loaded, VALID) == [True]
    await blocker.close()
    await builder.close()


async def test_what_is_written_while_it_is_built_is_in_it(loaded: Store) -> None:
    task = asyncio.create_task(build_index(loaded.database))
    while not task.done():
        async with loaded.database.writing() as connection:
            await connection.execute(
                "update fragment_vector set embedding = $1 where fragment_id = 5", HalfVector(HashEmbedder().vector("слово7"))
            )
        await asyncio.sleep(0.01)  # each leaves a row behind that the index leads to until it is swept
    await task
    assert (await found(loaded))[0] == "d4"
    await put(loaded, "later", "слово7", title="")
    assert await values(loaded, VALID) == [True]


@pytest.mark.parametrize(
    ("state", "build", "drop"),
    [
        (IndexState(50, 0, False, False, False, None), False, False),
        (IndexState(150, 0, False, False, False, None), True, False),
        (IndexState(150, 16, False, False, False, 599), False, False),
        (IndexState(150, 15, False, False, False, None), True, False),
        (IndexState(150, 5_000, False, False, False, 601), True, False),
        (IndexState(150, 0, True, False, True, 601), False, False),
        (IndexState(150, 0, True, True, False, None), False, False),
        (IndexState(150, 1_000, True, True, False, None), False, False),
        (IndexState(150, 1_001, True, True, False, None), False, True),
        (IndexState(201, 9_000, True, True, False, None), False, False),
        (IndexState(0, 1_001, True, True, False, None), False, True),
        (IndexState(99, 0, True, False, False, None), False, True),
        (IndexState(99, 0, True, False, True, None), False, False),
    ],
)
def test_when_it_is_built_and_when_it_is_dropped(state: IndexState, build: bool, drop: bool) -> None:
    assert should_build(state, SMALL.index_from) == build
    assert should_drop(state, SMALL.index_from, SMALL.exact_most) == drop
