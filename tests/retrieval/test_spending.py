"""Statements are counted for the request that sends them, and not where what others do or hold is the reason."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import numpy as np

from retrieval.access import Access
from retrieval.model import Model, QuestionVector
from retrieval.primitives import lexical, text, vector
from retrieval.primitives.lexical import Word, Words
from retrieval.question import FragmentFilter
from retrieval.reader import Reader
from retrieval.retrying import Overtaken, retried
from retrieval.spending import Spent, count_statement, spending, uncounted
from retrieval.store import Store
from retrieval.tuning import Tuning

ASKED = QuestionVector(np.ones(2, dtype=np.float32), Model(1, "a", 2))
WORDS = Words((Word("a", 1, 1.0, 0.0), Word("b", 9, 1.0, 0.0)), 10.0, ())
NUMBERS = Tuning(exact_most=0, all_words_most=0, word_budget=1)
FILTER = FragmentFilter()


class Desert:
    """What takes the place of the process and of a reader whose statements find nothing until all is compared."""

    def __init__(self) -> None:
        self.store = self
        self.tuning = NUMBERS
        self.spaces: tuple[Any, ...] = ()
        self.names: list[str] = []

    async def access(self) -> Access:
        return Access((1,), (0,), (), 1, ((1, 5),))

    def asked(self, filter: FragmentFilter) -> FragmentFilter:
        return filter

    async def rows(self, name: str, *values: Any) -> list[dict[str, Any]]:
        self.names.append(name)
        count_statement()
        return [{"ns": 1, "fragment_id": 1, "entity_id": 1, "raw": 0.5}] if name == vector.EXACT else []

    async def pair(self, first: str, second: str, *values: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        return await self.rows(first), await self.rows(second)


def spent_by(work: Any) -> int:
    """The statements of a coroutine."""
    return asyncio.run(counted(work)).statements


async def counted(work: Any) -> Spent:
    spent = Spent()
    spending.set(spent)
    await work
    return spent


def test_a_list_that_is_looked_for_again_costs_what_the_first_look_costs() -> None:
    desert = Desert()
    reader = cast("Reader", desert)
    assert spent_by(vector.vector(reader, ASKED, 5, FILTER)) == 1
    assert spent_by(lexical.lexical(reader, WORDS, 5, FILTER)) == 1
    assert spent_by(text.both(reader, ASKED, WORDS, 5, FILTER)) == 2  # a pair, which is one statement elsewhere
    assert desert.names == [
        *("vector_near", "vector_exact"),
        *("lexical", "lexical"),
        *("vector_near", "lexical", "vector_exact", "lexical", "vector_exact", "lexical"),
    ]


def test_whoever_calls_a_provider_gives_way() -> None:
    ways: list[str] = []
    spent = Spent(gives_way=lambda: ways.append("given"))
    spent.call_provider()
    assert (spent.provider_calls, ways) == (1, ["given"])


def test_a_write_that_others_came_before_costs_what_the_first_try_costs() -> None:
    tries = 0

    async def write() -> None:
        nonlocal tries
        tries += 1
        count_statement()
        if tries < 3:
            raise Overtaken("again")

    assert (spent_by(retried(write)), tries) == (1, 3)


async def test_what_two_requests_do_at_once_is_told_apart_and_transactions_are_not_counted(store: Store) -> None:
    async def ask(times: int) -> None:
        for _ in range(times):
            async with store.database.snapshot() as connection:
                await connection.fetch("select 1")
                assert await connection.fetchval("select $1::int", 2) == 2
                with uncounted():
                    await connection.fetchrow("select 3")
            async with store.database.writing() as connection:
                await connection.execute("select 4")
            await asyncio.sleep(0)

    found = await asyncio.gather(*(counted(ask(times)) for times in (1, 4, 2)))
    assert [one.statements for one in found] == [3, 12, 6]
