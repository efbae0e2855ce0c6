"""Compares the cost and the quality of one search with other products, in one run, block by block in turn."""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.bench.line import Line
from app.bench.rivals.contestant import Contestant, Spent
from app.bench.rivals.contextql import contextql
from app.bench.rivals.exchange import Exchange, read_exchange, write_exchange
from app.bench.rivals.hindsight import hindsight
from app.bench.rivals.langchain import langchain

SETS = {"fastapi-sections": 784, "xquad-ru": 300}
"""How many questions of each set are asked, evenly spread."""
QUICK_QUESTIONS, QUICK_REQUESTS = 60, 60
REQUESTS = 1_500
"""About how many requests of each contestant are measured on one set, in whole rounds over the questions."""
BLOCK = 50
SEED = 7

Entry = Callable[[Exchange, Path], AbstractAsyncContextManager[Contestant]]
RIVALS: tuple[tuple[Entry, float], ...] = ((langchain, 0.8), (hindsight, 0.25))
"""Each with the part of its processor time that ours may take."""
MOST_QUALITY_LOST = 0.005


@dataclass(frozen=True, slots=True)
class Measured:
    """What one contestant took over all measured requests, and how good its answers were (mean nDCG@10)."""

    name: str
    spent: Spent
    requests: int
    quality: float

    def milliseconds(self) -> str:
        """The cost of a request for people."""
        own, database = (1000 * seconds / self.requests for seconds in (self.spent.own, self.spent.database))
        return f"{own + database:.1f} ms of CPU ({own:.1f} own, {database:.1f} PostgreSQL)"


async def against_rivals(quick: bool, say: Callable[[str], None]) -> AsyncIterator[Line]:
    """The lines of each set as they come; raises `BadInput` when a set is not there (EVAL_DATA)."""
    for name, questions in SETS.items():
        exchange = read_exchange(name, QUICK_QUESTIONS if quick else questions)
        async with contestants(exchange, say) as all_of_them:
            say(f"asking on {name}")
            ours, *others = await measure(exchange, all_of_them, QUICK_REQUESTS if quick else REQUESTS)
        for other, (_, share) in zip(others, RIVALS, strict=True):
            for line in compared(name, ours, other, share):
                yield line


@asynccontextmanager
async def contestants(exchange: Exchange, say: Callable[[str], None]) -> AsyncIterator[list[Contestant]]:
    """Ours first, then the rivals, loaded; everything is gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="contextql-rivals-"))
    try:
        write_exchange(exchange, folder)
        async with AsyncExitStack() as stack:
            found = []
            for enter in (contextql, *(rival for rival, _ in RIVALS)):
                say(f"loading {exchange.name} into {enter.__name__}")
                found.append(await stack.enter_async_context(enter(exchange, folder)))
            yield found
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, True)


async def measure(exchange: Exchange, all_of_them: Sequence[Contestant], requests: int) -> list[Measured]:
    """Ask everybody everything once, then in blocks in turn, each contestant first as often as the others."""
    places = list(range(len(exchange.collection.queries)))
    qualities = [exchange.quality(await one.ask(places)) for one in all_of_them]
    rounds = max(1, round(requests / len(places)))
    spent = [Spent(0, 0) for _ in all_of_them]
    for number, block in enumerate(blocks(places, rounds)):
        for at in in_turn(len(all_of_them), number):
            before = all_of_them[at].spent()
            await all_of_them[at].ask(block)
            spent[at] += all_of_them[at].spent() - before
    return [
        Measured(one.name, took, rounds * len(places), quality)
        for one, took, quality in zip(all_of_them, spent, qualities, strict=True)
    ]


def blocks(places: Sequence[int], rounds: int) -> list[list[int]]:
    """Blocks of questions: every question once a round, in an order that is mixed and always the same."""
    chance, found = random.Random(SEED), []
    for _ in range(rounds):
        mixed = chance.sample(places, len(places))
        found += [mixed[start : start + BLOCK] for start in range(0, len(mixed), BLOCK)]
    return found


def in_turn(count: int, number: int) -> list[int]:
    """Places from 0, another one first each time."""
    return [(number + way) % count for way in range(count)]


def compared(name: str, ours: Measured, other: Measured, share: float) -> list[Line]:
    """Two promises: the cost, and that the answers are not worse for it."""
    cost = f"{ours.milliseconds()} against {other.milliseconds()} a request"
    quality = f"nDCG@10 {ours.quality:.3f} against {other.quality:.3f}"
    pair = f"{other.name}-on-{name}"
    return [
        Line(f"cost-of-{pair}", ours.spent.whole / other.spent.whole, share, note=cost),
        Line(f"quality-below-{pair}", other.quality - ours.quality, MOST_QUALITY_LOST, "", quality, digits=3),
    ]
