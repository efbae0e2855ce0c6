"""Whoever reads while a base is given another model: no question meets vectors of the other model, and nobody waits."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import asyncpg
import numpy as np
import pytest
from pgvector import HalfVector

from retrieval.database import prepare_connection
from retrieval.ingest.reembedding import reembed, switch
from retrieval.model import Model, ModelChanged
from retrieval.ports import Vectors
from retrieval.primitives.vector import vector
from retrieval.question import FragmentFilter
from retrieval.sql import guarded
from retrieval.store import Store
from tests.fixtures.embedders import DIMENSIONS, MODEL, HashEmbedder
from tests.fixtures.reembedding import OTHER, OtherEmbedder
from tests.fixtures.two_models import (
    MODELS,
    SEARCH,
    fill,
    keys,
    nearest,
    quiet,
    reembed_until_filled,
    with_other,
)
from tests.fixtures.world import execute, session_for

pytestmark = pytest.mark.usefixtures("ns")
FUSED = """{ search(question: "слово7", k: 20, entityFilter: {kinds: [DOCUMENT]}) {
    entities { entity { key } signals { channel rank } } degraded { code } } }"""


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
    async with asyncio.timeout(120):
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
