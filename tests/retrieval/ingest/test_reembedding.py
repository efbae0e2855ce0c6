"""A base is given another model while it is read and written: no question meets vectors of the other model, nothing is lost."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from multiprocessing.connection import Connection
from typing import Any

import asyncpg
import numpy as np
import pytest
from pgvector import HalfVector

from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.database import prepare_connection
from retrieval.errors import BadInput, Conflict, ProviderUnavailable
from retrieval.ingest.deleting import delete_entity
from retrieval.ingest.leases import take_lease
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.reembedding import LEASE, abandon, amount, begin, finish_after_another, reembed, switch
from retrieval.ingest.source_input import SourceInput
from retrieval.ingest.write import ingest_many
from retrieval.migrations import prepare
from retrieval.model import Model, ModelChanged
from retrieval.ports import Vectors
from retrieval.primitives.vector import vector
from retrieval.question import FragmentFilter
from retrieval.sql import guarded
from retrieval.store import Store
from tests.fixtures.embedders import DIMENSIONS, MODEL, HashEmbedder
from tests.fixtures.reembedding import OTHER, OTHER_DIMENSIONS, OtherEmbedder, reembed_all
from tests.fixtures.world import execute, session_for
from tests.fixtures.writing import ADMIN, DOCS, put, rows, values

pytestmark = pytest.mark.usefixtures("ns")
VECTORS = "select f.title || E'\\n' || f.text, v.embedding from fragment_vector v join fragment f using (ns, fragment_id)"
TABLES = "select relname from pg_class where relname like 'fragment_vector%' and relkind = 'r'"
SEARCH = """{ search(question: "слово7", k: 5) { vector { score fragment { card { key } } } lexical { score }
                                                 degraded { part code message } } }"""
FUSED = """{ search(question: "слово7", k: 20, entityFilter: {kinds: [DOCUMENT]}) {
    entities { entity { key } signals { channel rank } } degraded { code } } }"""
SCHEMA = """
    select c.relname, pg_get_indexdef(c.oid) from pg_class c join pg_index i on i.indexrelid = c.oid
     where i.indrelid = 'fragment_vector'::regclass and c.relname <> 'fragment_vector_near'
    union all select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'fragment_vector'::regclass
    union all select attname, format_type(atttypid, atttypmod) from pg_attribute
               where attrelid = 'fragment_vector'::regclass and attnum > 0
     order by 1, 2"""


def quiet(done: int, total: int) -> None:
    """Progress that nobody looks at."""


async def fill(store: Store, count: int = 30) -> None:
    """Documents of one fragment each, embedded with the model of the base."""
    given = [SourceInput(f"d{number}", f"слово{number} пропуск", title=f"T{number}") for number in range(count)]
    await ingest_many(store.database, store.base, ADMIN, DOCS, given)
    while await embed_pending(store, 50):
        pass


def with_other(store: Store, **given: Any) -> tuple[Store, OtherEmbedder]:
    """The store of a server that can ask both models, and the second one."""
    other = OtherEmbedder(**given)
    return replace(store, next_embedder=other), other


async def check_vectors(store: Store, embedder: HashEmbedder) -> int:
    """Every vector is the one that this model gives its text; gives how many there are."""
    found = await rows(store, VECTORS)
    for text, embedding in found:
        assert np.allclose(embedding.to_numpy(), embedder.vector(text), atol=2e-3), text
    return len(found)


def nearest(embedder: HashEmbedder, question: str, count: int, most: int) -> list[str]:
    """The keys that a model finds nearest among the documents of `fill`."""
    vectors = np.stack([embedder.vector(f"T{number}\nслово{number} пропуск") for number in range(count)])
    return [f"d{number}" for number in np.argsort(-(vectors @ embedder.vector(question)), kind="stable")[:most]]


def keys(answer: dict[str, Any]) -> list[str]:
    """The keys of the list by meaning."""
    return [hit["fragment"]["card"]["key"] for hit in answer["data"]["search"]["vector"]]


MODELS = pytest.mark.parametrize(
    ("name", "dimensions"), [(OTHER, OTHER_DIMENSIONS), (OTHER, DIMENSIONS), (MODEL, OTHER_DIMENSIONS)]
)
"""Another name and size, the same size, the same name."""


@MODELS
async def test_a_base_is_given_another_model(store: Store, fresh_database: Any, name: str, dimensions: int) -> None:
    await fill(store)
    both, other = with_other(store, name=name, dimensions=dimensions)
    assert await amount(store.database) == type(await amount(store.database))(
        30, 0, sum(len(f"T{n}слово{n} пропуск") for n in range(30))
    )
    told: list[tuple[int, int]] = []
    model = await reembed(both, other, lambda done, total: told.append((done, total)))
    assert model == Model(2, name, dimensions)
    assert await check_vectors(store, other) == 30
    assert (told[0], told[-1]) == ((0, 30), (30, 30))
    assert await values(store, TABLES) == ["fragment_vector"]
    assert await values(store, "select distinct model_number from vector_cache") == [2], "vectors of the former model are gone"
    alone = fresh_database()
    await prepare(alone, search_config="russian", embedding_model=name, dimensions=dimensions)
    connection = await asyncpg.connect(alone)
    assert [tuple(row) for row in await connection.fetch(SCHEMA)] == await rows(store, SCHEMA), "as if it had never had another"
    await connection.close()
    assert await reembed(both, other, quiet) == model, "a second run finds nothing to do"


@MODELS
async def test_every_read_meanwhile_is_right_by_the_model_of_its_moment(store: Store, name: str, dimensions: int) -> None:
    await fill(store)
    (both, other), stop = with_other(store, name=name, dimensions=dimensions, pause=0.05), asyncio.Event()
    by_old, by_new = nearest(HashEmbedder(), "слово7", 30, 5), nearest(other, "слово7", 30, 5)
    assert by_old != by_new
    seen: dict[str, list[str]] = {"both": [], "old only": []}

    async def ask(who: str, asked: Store) -> None:
        while not stop.is_set():
            answer = await execute(asked, SEARCH)
            assert "errors" not in answer
            assert len(answer["data"]["search"]["lexical"]) == 1
            found, degraded = keys(answer), answer["data"]["search"]["degraded"]
            kind = "old" if found == by_old else "new" if found == by_new else "none" if not found else "mixed"
            assert (kind == "none") == bool(degraded), answer
            assert all((one["part"], one["code"]) == ("embedding", "PROVIDER_UNAVAILABLE") for one in degraded)
            assert all(f"{name} ({dimensions} numbers)" in one["message"] for one in degraded)
            seen[who].append(kind)

    asking = [asyncio.create_task(ask("both", both)) for _ in range(3)] + [asyncio.create_task(ask("old only", store))]
    async with asyncio.timeout(60):
        while not all(seen.values()):
            await asyncio.sleep(0.02)
        await reembed(both, other, quiet)
        while "new" not in seen["both"] or "none" not in seen["old only"]:
            await asyncio.sleep(0.02)
    stop.set()
    await asyncio.gather(*asking)
    assert set(seen["both"]) == {"old", "new"}
    assert set(seen["old only"]) == {"old", "none"}


class Turning(OtherEmbedder):
    """The first model's provider, at whose first question the base is switched to the other model."""

    def __init__(self, turn: Any) -> None:
        super().__init__(MODEL, DIMENSIONS)
        self.turn = turn

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        turn, self.turn = self.turn, None
        if turn is not None:
            await turn()
        return np.stack([HashEmbedder().vector(text) for text in texts])


@pytest.mark.parametrize("can_ask_both", [True, False])
async def test_a_switch_in_the_middle_of_a_request_is_noticed_by_it(store: Store, can_ask_both: bool) -> None:
    await fill(store)
    both, other = with_other(store, dimensions=DIMENSIONS)

    async def turn() -> None:
        await reembed(both, other, quiet)

    asked = replace(both if can_ask_both else store, embedder=Turning(turn))
    answer = await execute(asked, SEARCH)
    if can_ask_both:
        assert keys(answer) == nearest(other, "слово7", 30, 5)
        assert answer["data"]["search"]["degraded"] == []
    else:
        assert keys(answer) == []
        assert [one["code"] for one in answer["data"]["search"]["degraded"]] == ["PROVIDER_UNAVAILABLE"]


async def test_no_statement_compares_vectors_of_two_models_not_even_in_an_old_snapshot(store: Store, base_url: str) -> None:
    await fill(store)
    both, other = with_other(store, dimensions=DIMENSIONS)
    await reembed_until_filled(both, other)
    connection = await asyncpg.connect(base_url)
    await prepare_connection(connection)

    async def found(name: str, number: int) -> int:
        more = (number,) if name == "vector_exact" else (8, number)
        vector = HalfVector(HashEmbedder().vector("x"))
        result = await connection.fetch(guarded(name), [1], [0], [1], vector, 20, True, *[None] * 9, *more, False)
        return sum(row["present"] is not None for row in result)

    snapshot = connection.transaction(isolation="repeatable_read", readonly=True)
    await snapshot.start()
    assert await connection.fetchval("select model_number from base") == 1
    await reembed(both, other, quiet)
    for name in ("vector_exact", "vector_near", "vector_near_twice"):
        assert [await found(name, number) for number in (1, 2)] == [0, 0], "the old snapshot names the new table"
    await snapshot.rollback()
    for name in ("vector_exact", "vector_near", "vector_near_twice"):
        assert [await found(name, number) for number in (1, 2)] == [0, 20]
    await connection.close()


async def test_a_snapshot_from_before_the_switch_is_told_from_a_base_where_nothing_is_found(store: Store) -> None:
    await fill(store)
    both, other = with_other(store, dimensions=DIMENSIONS)
    await reembed_until_filled(both, other)
    async with session_for(both, None) as session:
        question = await session.question_vector("слово7")
        async with session.reader((await session.caller).spaces).one_moment() as reader:
            assert await reader.rows("count_fragments")
            assert await switch(store.database, Model(2, OTHER, DIMENSIONS), 0)
            with pytest.raises(ModelChanged) as changed:
                await vector(reader, question, 20, FragmentFilter())
        assert changed.value.current is None


async def test_all_four_lists_of_one_moment_go_on_with_the_new_model(store: Store) -> None:
    await fill(store)
    both, other = with_other(store, dimensions=DIMENSIONS)

    async def turn() -> None:
        await reembed(both, other, quiet)

    answer = await execute(replace(both, embedder=Turning(turn)), FUSED)
    assert "errors" not in answer
    fused = answer["data"]["search"]
    assert fused["degraded"] == []
    by_meaning = [one["entity"]["key"] for one in fused["entities"] for s in one["signals"] if s["channel"] == "VECTOR"]
    assert set(nearest(other, "слово7", 30, 5)) <= set(by_meaning)


LISTS = ("vector { score }", "hits { score }", "entities { score }", "graph { score }", "neighbors { hops }")


@pytest.mark.parametrize("lists", LISTS)
async def test_whoever_cannot_ask_the_new_model_is_told_whatever_lists_are_selected(store: Store, lists: str) -> None:
    await fill(store)
    both, other = with_other(store, dimensions=DIMENSIONS)

    async def turn() -> None:
        await reembed(both, other, quiet)

    query = """{ search(question: "слово7", entityFilter: {kinds: [DOCUMENT]}) { LISTS degraded { code } } }"""
    answer = await execute(replace(store, embedder=Turning(turn)), query.replace("LISTS", lists))
    assert [one["code"] for one in answer["data"]["search"]["degraded"]] == ["PROVIDER_UNAVAILABLE"]


async def test_what_is_written_meanwhile_is_there_afterwards(store: Store) -> None:
    await fill(store)
    await upsert_principals(store.database, ADMIN, [PrincipalInput("ann", "USER")])
    both, other = with_other(store, pause=0.02)
    task = asyncio.create_task(reembed(both, other, quiet))
    for number in range(30):
        await put(store, f"new{number}", f"свежее{number}", title=f"N{number}")
        await put(store, f"d{number}", f"слово{number} иначе", title=f"T{number}", restricted=number % 2 == 0)
        if number % 5 == 0:
            await delete_entity(store.database, ADMIN, DOCS, f"d{number}")
        await asyncio.sleep(0.01)
    await task
    while await embed_pending(both, 50):
        pass
    assert await check_vectors(store, other) == await values_of_one(store, "select count(*) from fragment") == 54
    assert await values(store, "select count(*) from embedding_queue") == [0]
    differing = "select count(*) from fragment_vector v join fragment f using (ns, fragment_id) where v.acl_id <> f.acl_id"
    assert await values(store, differing) == [0]
    assert await values_of_one(store, "select count(*) from fragment_vector where acl_id <> 0") == 12


async def values_of_one(store: Store, query: str) -> int:
    """The number that a query counts."""
    (count,) = await values(store, query)
    return int(count)


async def test_a_right_that_was_taken_while_it_ran_holds_for_the_new_vectors(store: Store) -> None:
    await fill(store, 3)
    both, other = with_other(store, batch_size=3)
    model = await begin(store.database, other)
    assert model is not None
    await reembed_until_filled(both, other)
    await put(store, "d1", "слово1 пропуск", title="T1", restricted=True)
    assert await values(store, "select count(*) from fragment_vector_next where acl_id <> 0") == [0]
    await reembed(both, other, quiet)
    assert await values(store, "select count(*) from fragment_vector where acl_id <> 0") == [1]


async def reembed_until_filled(store: Store, other: OtherEmbedder) -> None:
    """Fill the new table and stop before the switch, as a process does that is killed there."""

    class Killed(Exception):
        pass

    def killed(done: int, total: int) -> None:
        if done == total:
            raise Killed

    with pytest.raises(Killed):
        await reembed(store, other, killed)


async def test_a_batch_of_the_former_model_that_comes_after_the_switch_is_thrown_away(store: Store) -> None:
    await fill(store, 10)
    both, other = with_other(store, dimensions=DIMENSIONS)
    await reembed_until_filled(both, other)
    await put(store, "late", "позднее", title="L")

    class Late(HashEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            assert await switch(store.database, Model(2, OTHER, DIMENSIONS), 0)
            return await super().embed_passages(texts)

    assert await embed_pending(replace(store, embedder=Late()), 10) == 1
    while await embed_pending(both, 10):
        pass
    assert await check_vectors(store, other) == 11
    assert await embed_pending(store, 10) == 0, "whoever has the former model only claims nothing"


async def test_a_text_that_the_new_model_refuses_keeps_the_base_as_it_is_until_that_is_allowed(store: Store) -> None:
    await fill(store)
    both, other = with_other(store)
    other.poison = "слово17"
    with pytest.raises(Conflict, match="1 fragments were refused"):
        await reembed(both, other, quiet)
    assert await check_vectors(store, HashEmbedder()) == 30
    assert (await reembed(both, other, quiet, allow_missing=True)).name == OTHER
    assert await check_vectors(store, other) == 29
    assert await values(store, "select count(*) from embedding_queue") == [1], "it waits, as any other"


async def test_what_a_provider_refuses_in_passing_is_asked_for_again(store: Store) -> None:
    await fill(store)
    both, other = with_other(store)
    other.poison = "слово17"

    def relent(done: int, total: int) -> None:
        if done == 29:
            other.poison = ""

    assert (await reembed(both, other, relent)).name == OTHER
    assert await check_vectors(store, other) == 30


async def test_a_provider_that_goes_away_ends_the_run_and_the_next_goes_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(store)
    both, other = with_other(store)

    def go_away(done: int, total: int) -> None:
        other.is_away = done >= 12

    async def at_once(seconds: float) -> None:
        """No pause between attempts."""

    monkeypatch.setattr(asyncio, "sleep", at_once)
    with pytest.raises(ProviderUnavailable, match="goes on from here"):
        await reembed(both, other, go_away)
    monkeypatch.undo()
    assert await check_vectors(store, HashEmbedder()) == 30
    other.is_away = False
    done = len(other.passages)
    await reembed(both, other, quiet)
    assert await check_vectors(store, other) == 30
    assert len(other.passages) == 30, "nothing is embedded twice"
    assert 12 <= done < 30


async def test_it_is_given_up_without_a_trace(store: Store) -> None:
    await fill(store)
    both, other = with_other(store)
    assert not await abandon(store.database)
    await reembed_until_filled(both, other)
    assert sorted(await values(store, TABLES)) == ["fragment_vector", "fragment_vector_next"]
    third = OtherEmbedder("third-4", 4)
    with pytest.raises(Conflict, match="being re-embedded with other-16"):
        await reembed(replace(store, next_embedder=third), third, quiet)
    assert await abandon(store.database)
    assert await values(store, TABLES) == ["fragment_vector"]
    assert await check_vectors(store, HashEmbedder()) == 30
    assert await values(store, "select distinct model_number from vector_cache") == [1]
    assert await reembed(replace(store, next_embedder=third), third, quiet) == Model(3, "third-4", 4), (
        "numbers are not given twice"
    )


async def test_each_step_of_a_change_is_in_the_audit(store: Store) -> None:
    await fill(store)
    both, other = with_other(store)
    await reembed_until_filled(both, other)
    await abandon(store.database)
    await reembed(both, other, quiet)
    steps = "select action || ' ' || (what->>'model') from audit where ns is null order by audit_id desc limit 4"
    assert await values(store, steps) == [
        f"{step} {other.model}" for step in ("REEMBED", "BEGIN_REEMBEDDING", "ABANDON_REEMBEDDING", "BEGIN_REEMBEDDING")
    ]
    await reembed(both, other, quiet)
    assert (await values(store, "select count(*) from audit where action like '%REEMBED%'"))[0] == 4, "nothing was changed"


async def test_two_at_once_are_one(store: Store) -> None:
    await fill(store)
    (both, other), (again, second) = with_other(store, pause=0.02), with_other(store, pause=0.02)
    models = await asyncio.gather(reembed(both, other, quiet), reembed(again, second, quiet))
    assert models[0] == models[1]
    assert await check_vectors(store, other) == 30
    assert len(other.passages) + len(second.passages) == 30


async def test_a_base_without_vectors_has_nothing_to_change(fresh_database: Any, store: Store) -> None:
    async with store.database.writing() as connection:
        await connection.execute("update base set embedding_model = null, embedding_size = null")
    both, other = with_other(store)
    with pytest.raises(BadInput, match="no vectors yet"):
        await reembed(both, other, quiet)


async def test_what_a_killed_run_leaves_after_the_switch_is_taken_away_by_a_worker(store: Store) -> None:
    await fill(store)
    both, other = with_other(store)
    await reembed_until_filled(both, other)
    assert await switch(store.database, Model(2, OTHER, OTHER_DIMENSIONS), 0)
    assert sorted(await values(store, TABLES)) == ["fragment_vector", "fragment_vector_former"]
    assert keys(await execute(both, SEARCH)) == nearest(other, "слово7", 30, 5)
    assert await finish_after_another(store.database, "a worker")
    assert not await finish_after_another(store.database, "a worker")
    assert await values(store, TABLES) == ["fragment_vector"]


async def test_readers_never_wait_for_long_and_a_long_one_only_delays_the_switch(store: Store, base_url: str) -> None:
    await fill(store)
    both, other = with_other(store)
    await reembed_until_filled(both, other)
    connection = await asyncpg.connect(base_url)
    long = connection.transaction()
    await long.start()
    await connection.fetchval("select count(*) from fragment_vector")
    task = asyncio.create_task(reembed(both, other, quiet))
    for _ in range(20):
        assert keys(await execute(both, SEARCH)) == nearest(HashEmbedder(), "слово7", 30, 5)
    assert not task.done()
    await long.rollback()
    assert (await task).name == OTHER
    await connection.close()


# ------------------------------------------------------------------------------------------------ killed


def run(url: str, kill_at: int | None) -> Any:
    """Re-embed in another process and kill it when it says that so many are done; gives the last that it said."""
    context = multiprocessing.get_context("forkserver")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=reembed_all, args=(url, 0.01, sending))
    process.start()
    sending.close()
    last = watched(receiving, kill_at)
    process.kill()
    process.join()
    receiving.close()
    return last


def watched(receiving: Connection, kill_at: int | None) -> Any:
    """What is said until it is time to kill, or until the end."""
    last: Any = None
    try:
        while receiving.poll(60):
            last = receiving.recv()
            if kill_at is not None and last != "end" and last[0] >= kill_at:
                return last
    except EOFError:
        pass
    return last


async def test_killed_again_and_again_it_goes_on_where_it_was(store: Store, base_url: str) -> None:
    await fill(store, 60)
    multiprocessing.get_context("forkserver").set_forkserver_preload(["tests.fixtures.reembedding"])
    moments, reached = random.Random(3), 0
    for kill_at in (0, 1, 12, 30, 31, 55, 60, 60):
        last = await asyncio.to_thread(run, base_url, kill_at)
        if last == "end":
            break
        assert last[0] >= reached, "what was made is kept"
        reached = last[0]
        await asyncio.sleep(moments.uniform(0, 0.05))
        await let_lapse(store)
        (number,) = await values(store, "select model_number from base")
        assert await check_vectors(store, HashEmbedder() if number == 1 else OtherEmbedder()) == 60, (
            "never a mixture, never a gap"
        )
    if await values(store, "select model_number from base") == [1] or len(await values(store, TABLES)) > 1:
        assert await asyncio.to_thread(run, base_url, None) == "end"
    assert await check_vectors(store, OtherEmbedder()) == 60
    assert await values(store, TABLES) == ["fragment_vector"]
    assert await values(store, "select indisvalid from pg_index where indexrelid = to_regclass('fragment_vector_near')") == [True]
    assert await take_lease(store.database, LEASE, "anybody")


async def let_lapse(store: Store) -> None:
    """Wait until the killed process is gone from the database, and let the time of its lease pass."""
    others = """select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
                 and state <> 'idle' and query like '%fragment_vector_next%'"""
    while await values(store, others) != [0]:
        await asyncio.sleep(0.02)
    async with store.database.writing() as connection:
        await connection.execute("update lease set held_until = now() - interval '1 s'")


async def test_a_refused_text_is_told_though_others_never_stop_writing(store: Store) -> None:
    await fill(store, 6)
    both, other = with_other(store)
    other.poison = "слово3"
    embed, number = other.embed_passages, count()

    async def while_others_write(texts: Sequence[str]) -> Vectors:
        if len(texts) == 1 and other.poison in texts[0]:
            await put(store, f"new{next(number)}", "свежее")
        return await embed(texts)

    other.embed_passages = while_others_write  # type: ignore[method-assign]
    with pytest.raises(Conflict, match="1 fragments were refused"):
        await asyncio.wait_for(reembed(both, other, quiet), 30)


async def test_a_refused_text_that_is_deleted_meanwhile_stops_nothing(store: Store) -> None:
    await fill(store, 6)
    both, other = with_other(store)
    other.poison = "слово3"
    embed = other.embed_passages

    async def until_it_is_gone(texts: Sequence[str]) -> Vectors:
        if len(texts) == 1 and other.poison in texts[0]:
            await delete_entity(store.database, ADMIN, DOCS, "d3")
        return await embed(texts)

    other.embed_passages = until_it_is_gone  # type: ignore[method-assign]
    assert (await reembed(both, other, quiet)).name == OTHER
    assert await check_vectors(store, other) == 5


async def test_vectors_of_the_former_model_are_forgotten_though_a_long_reader_keeps_their_table(
    store: Store, base_url: str
) -> None:
    await fill(store)
    both, other = with_other(store)
    connection = await asyncpg.connect(base_url)
    reading = connection.transaction()
    await reading.start()
    await connection.execute("lock table fragment in access share mode")
    task = asyncio.create_task(reembed(both, other, quiet))
    async with asyncio.timeout(20):
        while await values_of_one(store, "select count(*) from vector_cache where model_number = 1"):
            await asyncio.sleep(0.05)
    assert "fragment_vector_former" in await values(store, TABLES)
    await reading.rollback()
    await connection.close()
    await task
    assert await values(store, TABLES) == ["fragment_vector"]


async def test_giving_up_touches_no_vector_before_its_table_can_go(store: Store, base_url: str) -> None:
    await fill(store)
    both, other = with_other(store)
    await reembed_until_filled(both, other)
    connection = await asyncpg.connect(base_url)
    reading = connection.transaction()
    await reading.start()
    await connection.execute("lock table fragment in access share mode")
    task = asyncio.create_task(abandon(store.database))
    waits = """select count(*) from pg_locks
                where not granted and database = (select oid from pg_database where datname = current_database())"""
    async with asyncio.timeout(20):
        while not await values_of_one(store, waits):
            await asyncio.sleep(0.02)
    assert await values_of_one(store, "select count(*) from vector_cache where xmax <> 0") == 0, "while writers wait"
    await reading.rollback()
    await connection.close()
    assert await task
    assert await values(store, "select distinct model_number from vector_cache") == [1]
