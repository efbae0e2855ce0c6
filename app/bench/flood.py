"""One principal that asks ten times what it may: how long the others wait beside it, against the same without it."""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from statistics import median

import orjson

from app.bench.line import Line
from app.bench.servers import Served, serving
from app.bench.world import SMALL, World
from app.config import Settings
from retrieval.administration.grants import grant
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.administration.rights import local_administrator
from retrieval.administration.tokens import create_token
from retrieval.database import Database

OTHERS, PACE = 20, 0.5
"""Principals, and how many questions a second each of them asks, at moments of chance."""
TIMES = 10
"""How many times its share the one asks."""
WINDOWS, SECONDS = 12, 10.0
"""Windows of each kind in turn."""
BOUND = 1.5
REFUSED_MILLISECONDS = 50
QUESTIONS = 100
K = 8
POINTS = 1 + 2 * K
HITS = f"""query($question: String!) {{ search(question: $question, namespaces: ["{SMALL}"], k: {K}) {{
    hits {{ score fragment {{ title text }} }} }} }}"""


@dataclass
class Found:
    """Seconds that others waited in each window, alone and beside a flood, and what became of the flood."""

    alone: list[list[float]] = field(default_factory=list)
    beside: list[list[float]] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)
    refused: list[float] = field(default_factory=list)

    def lines(self) -> list[Line]:
        """How much longer the slowest of a hundred others waits, and how soon the slowest of a hundred refusals is there.

        Of the windows the middle one counts, so that what else the machine does in one of them says nothing.
        """
        alone, beside = (1000 * median(percentile(seconds, 0.99) for seconds in each) for each in (self.alone, self.beside))
        middle = [1000 * median(percentile(seconds, 0.5) for seconds in each) for each in (self.alone, self.beside)]
        told = ", ".join(f"{count:,} x {status}" for status, count in sorted(self.told.items()))
        waited = f"p99 {beside:.1f} ms against {alone:.1f}, p50 {middle[1]:.1f} against {middle[0]:.1f}"
        note = f"{waited}, middle of {len(self.alone)} windows with {len(self.alone[0])} questions; of the flood {told}"
        refused = 1000 * percentile(self.refused, 0.99)
        return [
            Line("others-beside-a-flood", beside / alone, BOUND, note=note),
            Line("refused-in-a-flood", refused, REFUSED_MILLISECONDS, " ms", f"p99 of {len(self.refused):,}", digits=1),
        ]


async def others_beside_a_flood(world: World) -> list[Line]:
    """Windows with and without the flood in turn, on one server with the budget that it comes with."""
    pace = TIMES * Settings.model_fields["points_per_minute"].default / 60 / POINTS
    questions, found = [world.small.question(6_000_000 + number) for number in range(QUESTIONS)], Found()
    names = [f"other {number}" for number in range(OTHERS)] + ["flood"]
    tokens = await made_known(world, names)
    async with serving(world, points_per_minute=str(Settings.model_fields["points_per_minute"].default)) as served:
        for number, question in enumerate(questions):
            await asked(served, tokens[number % OTHERS], question)
        async with flooding(served, tokens[-1], questions[0]) as flood:
            for number in range(2 * max(2, world.times(WINDOWS))):
                if number % 2:
                    flood.begin(pace)
                (found.beside if number % 2 else found.alone).append(await window(served, tokens[:-1], questions))
                if number % 2:
                    told, refused = await flood.end()
                    found.told.update(told)
                    found.refused += refused
    return found.lines()


async def window(served: Served, tokens: list[str], questions: list[str]) -> list[float]:
    """Have each of the others ask at moments of chance; gives the seconds from the moment on which each question was due."""
    loop, waited = asyncio.get_running_loop(), list[float]()

    async def one(token: str, delay: float) -> None:
        due = loop.time() + delay
        await asyncio.sleep(delay)
        await asked(served, token, random.choice(questions))
        waited.append(loop.time() - due)

    async with asyncio.TaskGroup() as group:
        for token in tokens:
            for _ in range(round(PACE * SECONDS)):
                group.create_task(one(token, random.uniform(0, SECONDS)))
    return waited


async def asked(served: Served, token: str, question: str) -> None:
    """One question; raises when it is not answered."""
    body = {"query": HITS, "variables": {"question": question}}
    reply = await served.client.post("/graphql", json=body, headers={"Authorization": f"Bearer {token}"})
    if reply.status_code != 200 or "errors" in reply.json():
        raise RuntimeError(f"the server answered {reply.status_code}: {reply.text[:500]}")


class Flooding:
    """The other process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._orders, self._told = process.stdin, process.stdout

    def begin(self, pace: float) -> None:
        """Ask so often a second from now on."""
        self._orders.write(f"{pace}\n".encode())

    async def end(self) -> tuple[dict[str, int], list[float]]:
        """Stop; how often each status came, and the seconds of each refusal."""
        self._orders.write(b"\n")
        told, refused = orjson.loads(await self._told.readline())
        return told, refused


@asynccontextmanager
async def flooding(served: Served, token: str, question: str) -> AsyncIterator[Flooding]:
    """A process that asks what it is told to."""
    body = orjson.dumps({"query": HITS, "variables": {"question": question}}).decode()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app.bench.flooding",
        env={"BENCH_ADDRESS": served.address.removeprefix("http://"), "BENCH_TOKEN": token, "BENCH_BODY": body},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        yield Flooding(process)
    finally:
        process.kill()
        await process.wait()


async def made_known(world: World, names: list[str]) -> list[str]:
    """A token of each of those principals, who may read."""
    database, admin = await Database.open(world.url, size=2), local_administrator()
    try:
        await upsert_principals(database, admin, [PrincipalInput(name, "SERVICE") for name in names])
        for name in names:
            await grant(database, admin, name, SMALL)
        return [(await create_token(database, admin, name)).token for name in names]
    finally:
        await database.close()


def percentile(values: list[float], share: float) -> float:
    """The value that so large a share is not above."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]
