"""Lists that are fused show one moment, whatever is written while they are ranked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Thread
from typing import Any

import asyncpg
import pytest

from retrieval.question import Question
from retrieval.search import EntityHit
from tests.fixtures.desk import Desk
from tests.fixtures.world import Recorder, session_for

PAIR = "vector_exact+lexical"
ASK = """{ search(question: "жираф", namespaces: ["docs"], k: 10, entityFilter: {statuses: ["open"]}) {
    hits { signals { channel } fragment { card { key } } }
    entities { entity { key status } signals { channel } } } }"""
CLOSE = "update entity set status = 'closed'"


@dataclass
class Meddler(Recorder):
    """An observer in whose presence somebody else writes, once, right after a statement."""

    after: str = ""
    write: Callable[[], None] = field(default=lambda: None)

    def statement(self, name: str, seconds: float) -> None:
        super().statement(name, seconds)
        if name == self.after:
            self.after = ""
            self.write()


def writing(url: str, statement: str) -> Callable[[], None]:
    """Runs a statement on a connection of its own and comes back when it is committed."""

    async def write() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    def run() -> None:
        thread = Thread(target=lambda: asyncio.run(write()))
        thread.start()
        thread.join()

    return run


@pytest.fixture
async def stored(desk: Desk) -> Desk:
    """Documents that are all open."""
    await desk.fill({f"k{number}": f"жираф номер {number}" for number in range(4)})
    await desk.settle()
    async with desk.store.database.writing() as connection:
        await connection.execute("update entity set status = 'open'")
    return desk


async def test_what_is_written_between_two_lists_is_in_none_of_them(stored: Desk) -> None:
    stored.store.observer = Meddler(after=PAIR, write=writing(stored.store.database.url, CLOSE))
    found: dict[str, Any] = (await stored.ask(ASK))["search"]
    assert len(found["entities"]) == 4
    for one in found["entities"]:
        assert {signal["channel"] for signal in one["signals"]} == {"VECTOR", "LEXICAL", "SQL"}
        assert one["entity"]["status"] == "closed", "rows are loaded as they are now"
    later = (await stored.ask(ASK))["search"]["entities"]
    assert all({signal["channel"] for signal in one["signals"]} == {"VECTOR", "LEXICAL"} for one in later)


async def test_both_lists_of_fragments_are_one_statement(stored: Desk) -> None:
    stored.store.observer = recorder = Recorder()
    found = (await stored.ask(ASK.replace("entities { entity { key status } signals { channel } }", "")))["search"]["hits"]
    assert all([signal["channel"] for signal in hit["signals"]] == ["VECTOR", "LEXICAL"] for hit in found)
    assert recorder.counted[PAIR] == 1
    assert not {"vector_exact", "lexical"} & set(recorder.counted)


async def test_one_list_alone_waits_for_no_vector(stored: Desk) -> None:
    stored.store.observer = recorder = Recorder()
    await stored.ask(ASK.split("hits {")[0] + "lexical { score } } }")
    assert recorder.counted["lexical"] == 1
    assert not {"embedding", PAIR} & set(recorder.counted)


async def test_a_walk_starts_from_both_lists_of_fragments_though_one_was_ranked_before(desk: Desk) -> None:
    await desk.fill({f"k{number}": f"слово{number} [дальше](n{number})" for number in range(6)})
    await desk.fill({f"n{number}": f"окрестность{number}" for number in range(6)})
    await desk.settle()

    async def found(*before: str) -> list[EntityHit]:
        async with session_for(desk.store, None) as session:
            run = await session.search(Question("слово3", None, k=5))
            for name in before:
                await getattr(run, name)
            return await run.entities

    assert await found("vector") == await found("lexical") == await found()
