"""Providers that hang: what plain searches cost beside them, against the same searches of a server whose providers do not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from statistics import median
from time import perf_counter

import httpx

from app.bench.line import Line
from app.bench.servers import Served, serving
from app.bench.stand_in import StandIn, standing_in
from app.bench.streams import answering
from app.bench.world import LARGE, SMALL, World
from app.config import LOCAL_MODEL
from app.providers.breaker import FAILURES, PAUSE_SECONDS
from app.providers.local import DIMENSIONS

ANSWERS = 32
"""The most calls to chat models that a worker makes as it comes; here they may all be of one caller."""
HANG_SECONDS = 12.0
"""Answers are taken away before they end by themselves, which takes about 25 seconds."""
BOUND = 1.3
ANSWER = f'query($question: String!) {{ search(question: $question, namespaces: ["{SMALL}"]) {{ answer {{ text }} }} }}'
FIELDS = "{ score fragment { id title text } entity { key } }"
HITS = f'query($question: String!) {{ search(question: $question, namespaces: ["{LARGE}"]) {{ hits {FIELDS} }} }}'
LEXICAL = f'query($question: String!) {{ search(question: $question, namespaces: ["{LARGE}"]) {{ lexical {FIELDS} }} }}'
NUMBERS = count()


class Pairs:
    """Seconds of the same question asked of two servers in turn; each is first as often as the other."""

    def __init__(self, world: World, query: str) -> None:
        self.beside: list[float] = []
        self.alone: list[float] = []
        self._world = world
        self._query = query

    async def ask(self, beside: Served, alone: Served) -> None:
        """Ask a question that was never asked of both."""
        number = 4_000_000 + next(NUMBERS)
        turns = [(beside, self.beside), (alone, self.alone)]
        for served, seconds in turns[:: 1 if number % 2 else -1]:
            began = perf_counter()
            await served.ask(self._query, question=self._world.large.question(number))
            seconds.append(perf_counter() - began)

    def line(self, name: str, more: str = "") -> Line:
        """The ratio of the medians."""
        beside, alone = 1000 * median(self.beside), 1000 * median(self.alone)
        return Line(name, beside / alone, BOUND, note=f"p50 {beside:.1f} ms against {alone:.1f} ms{more}")


async def hits_beside_a_hanging_chat(world: World) -> list[Line]:
    """Two servers of which one has answers that hang, as many as it lets in, then the other."""
    rounds, pairs, asked = 2 * world.times(3), world.times(60), Pairs(world, HITS)
    room = {"llm_concurrency_per_principal": str(ANSWERS), "concurrent_requests": str(2 * ANSWERS)}
    async with (
        standing_in() as stand_in,
        answering(world, stand_in, **room) as one,
        answering(world, stand_in, **room) as other,
    ):
        await warmed(world, HITS, one, other)
        for number in range(rounds):
            beside, alone = (one, other) if number % 2 else (other, one)
            until = perf_counter() + HANG_SECONDS
            async with hanging_answers(world, stand_in, beside):
                for _ in range(pairs):
                    await asked.ask(beside, alone)
                    if perf_counter() > until:
                        break
    return [asked.line("hits-beside-hanging-chat", f", {ANSWERS} answers hang, {len(asked.alone)} questions each")]


@asynccontextmanager
async def hanging_answers(world: World, stand_in: StandIn, served: Served) -> AsyncIterator[None]:
    """As many requests as the server lets in that wait for the chat model until the block ends; raises when one did not."""
    async with httpx.AsyncClient(base_url=served.address, timeout=60, trust_env=False) as client:
        answers = [asyncio.create_task(client.post("/graphql", json=answer(world, at))) for at in range(ANSWERS)]
        try:
            chats = [await asyncio.wait_for(stand_in.chats.get(), 30) for _ in answers]
            yield
            if any(task.done() for task in answers):
                raise RuntimeError("an answer did not hang")
        finally:
            for task in answers:
                task.cancel()
            await asyncio.gather(*answers, return_exceptions=True)
    await asyncio.wait_for(asyncio.gather(*(chat.left.wait() for chat in chats)), 30)


def answer(world: World, number: int) -> dict[str, object]:
    """A request that waits for the chat model."""
    return {"query": ANSWER, "variables": {"question": world.small.question(number)}}


async def lexical_beside_hanging_embeddings(world: World) -> list[Line]:
    """Two servers of which one has embeddings that hang, then the other: while calls hang, and once the breaker is open."""
    lexical, hits, through = Pairs(world, LEXICAL), Pairs(world, HITS), 0
    async with standing_in() as stand_in, embedding(world, stand_in, "one") as one, embedding(world, stand_in, "two") as two:
        await warmed(world, HITS, one, two)
        for name, beside, alone in (("one", one, two), ("two", two, one)) * world.times(2):
            stand_in.hanging = {name}
            failing = [asyncio.create_task(beside.ask(HITS, question=f"{name} {next(NUMBERS)}")) for _ in range(FAILURES)]
            while not all(task.done() for task in failing):
                await lexical.ask(beside, alone)
            await asyncio.gather(*failing)
            until, before = perf_counter() + 0.9 * PAUSE_SECONDS, stand_in.embeddings[name]
            for _ in range(world.times(20)):
                await hits.ask(beside, alone)
                await lexical.ask(beside, alone)
                if perf_counter() > until:
                    break
            through += stand_in.embeddings[name] - before
            await recovered(stand_in, name, beside)
    more = f", {len(hits.alone)} questions each after {FAILURES} failures"
    return [
        lexical.line("lexical-beside-hanging-embeddings", f", {len(lexical.alone)} questions each"),
        hits.line("hits-behind-the-breaker", more),
        Line("calls-through-the-breaker", through, 0, "", f"of {len(hits.alone)} questions", digits=0),
    ]


def embedding(world: World, stand_in: StandIn, name: str) -> AbstractAsyncContextManager[Served]:
    """A server that asks the stand-in for vectors, below a path of its own, of the model that the base holds."""
    return serving(
        world,
        embedding_provider="openai",
        openai_base_url=f"{stand_in.address}/{name}/v1",
        embedding_model=LOCAL_MODEL,
        embedding_dimensions=str(DIMENSIONS),
    )


async def recovered(stand_in: StandIn, name: str, served: Served) -> None:
    """Let the provider answer again, and wait until the server has asked it."""
    stand_in.hanging = set()
    before = stand_in.embeddings[name]
    async with asyncio.timeout(30):
        while stand_in.embeddings[name] == before:
            await asyncio.sleep(0.5)
            await served.ask(HITS, question=f"again {next(NUMBERS)}")


async def warmed(world: World, query: str, *servers: Served) -> None:
    """Ask some questions of each."""
    for served in servers:
        for number in range(20):
            await served.ask(query, question=world.large.question(5_000_000 + number))
