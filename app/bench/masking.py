"""What masks and safe forms add to `search { hits { fragment { text } } }`: processor time of the server process."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache

import httpx
import numpy as np

from app.bench.corpus import near_vectors
from app.bench.line import Line
from app.bench.servers import Served, serving
from app.bench.world import World
from app.demo.corpus import LANGUAGES, pages
from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.administration.rights import local_administrator
from retrieval.administration.tokens import create_token
from retrieval.database import Database
from retrieval.ingest.bulk import Prepared, load, refresh_plans
from retrieval.ingest.documents import read_document
from retrieval.ingest.statistics import refresh_statistics

WARM_UP, COPIES, QUESTIONS, FRAGMENTS = 3, 8, 60, 600
AGAIN = 8
K = 8
ROLES = {"plain": ("READER", "PERSONAL_DATA"), "masked": ("READER",)}
"""Two callers: one reads texts as they are stored, to the other they are masked."""
ASKED = f"""query($question: String!, $namespaces: [String!]) {{
    search(question: $question, namespaces: $namespaces, k: {K}) {{ hits {{ fragment {{ %s }} }} }} }}"""
QUERIES = {"plain": ASKED % "text", "masked": ASKED % "text(neutralized: true)"}
WARM = ASKED.replace("hits", "vector") % "text"
"""Leaves only the vector of the question in memory: whoever asks it reads no mask."""
BOUND = 1.15


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the namespace that it is asked in."""

    question: str
    namespace: str


async def masking_of_hits(world: World) -> list[Line]:
    """The pages of the demo, masked and made safe for one caller and not for the other, each block of questions in turn.

    Some pages are stored several times, told apart by a number in each title and text, so that every copy is new to the
    process; the questions of the last one are asked again until all its texts are known. The first copies do not count: matchers
    are slower until they have met some texts.
    """
    copies = WARM_UP + world.times(COPIES)
    database = await Database.open(world.url, size=2)
    try:
        tokens = await fill(database, copies)
    finally:
        await database.close()
    async with serving(world) as served, holding(served, tokens["plain"]) as plain, holding(served, tokens["masked"]) as masked:
        sides = {"plain": plain, "masked": masked}
        anew, again = dict.fromkeys(sides, 0.0), dict.fromkeys(sides, 0.0)
        for copy in range(copies):
            block = questions(copy)
            for one in block:
                await ask(plain, WARM, one)
            await spend(sides, block, {} if copy < WARM_UP else anew, turn=copy)
        rounds = world.times(AGAIN)
        for turn in range(rounds):
            await spend(sides, block, again, turn)
    return [line("masking-of-hits", again, rounds), line("masking-of-hits-anew", anew, copies - WARM_UP)]


def line(name: str, spent: dict[str, float], blocks: int) -> Line:
    """One promise."""
    plain, masked = (1000 * spent[side] / (blocks * QUESTIONS) for side in ("plain", "masked"))
    return Line(name, masked / plain, BOUND, note=f"{masked:.2f} ms of CPU against {plain:.2f} ms a request")


async def spend(sides: dict[str, Served], block: list[Asked], spent: dict[str, float], turn: int) -> None:
    """Have both sides ask a block, the one first and then the other; adds the seconds of processor time of the server process."""
    for side in sorted(sides, reverse=turn % 2 == 1):
        before = sides[side].cpu()
        for one in block:
            await ask(sides[side], QUERIES[side], one)
        spent[side] = spent.get(side, 0.0) + sides[side].cpu() - before


async def ask(served: Served, query: str, one: Asked) -> None:
    """Ask one question."""
    await served.ask(query, question=one.question, namespaces=[one.namespace])


def questions(copy: int) -> list[Asked]:
    """The beginnings of some fragments, other ones for each copy."""
    chosen = random.Random(copy).sample(fragments(copy), QUESTIONS)
    return [Asked(" ".join(text.split()[:8])[:100], namespace_of(copy)) for _, text in chosen]


@asynccontextmanager
async def holding(served: Served, token: str) -> AsyncIterator[Served]:
    """The same server, asked with a token."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=served.address, headers=headers, timeout=60, trust_env=False) as client:
        yield replace(served, client=client)


async def fill(database: Database, copies: int) -> dict[str, str]:
    """Store the copies; gives the token of each caller."""
    admin = local_administrator()
    await upsert_principals(database, admin, [PrincipalInput(name, "SERVICE") for name in ROLES])
    for copy in range(copies):
        ns = (await create_namespace(database, admin, namespace_of(copy))).ns
        async for _ in load(database, ns, documents(copy)):
            pass
        await refresh_statistics(database, ns)
        for name, roles in ROLES.items():
            for role in roles:
                await grant(database, admin, name, namespace_of(copy), role)
    await refresh_plans(database)
    return {name: (await create_token(database, admin, name)).token for name in ROLES}


def namespace_of(copy: int) -> str:
    """The namespace of a copy."""
    return f"pages {copy}"


def documents(copy: int) -> Iterator[Prepared]:
    """The fragments of a copy as documents, with its number; their vectors are invented."""
    found = fragments(copy)
    vectors = near_vectors(np.random.default_rng(copy), len(found))
    for at, ((title, text), vector) in enumerate(zip(found, vectors, strict=True)):
        yield Prepared(f"page {at}", f"{title} ({copy})", f"{text}\n\n({copy})", "{}", vector)


def fragments(copy: int) -> list[tuple[str, str]]:
    """Title and text of some fragments of the demo, other ones for each copy."""
    return random.Random(f"fragments {copy}").sample(everything(), FRAGMENTS)


@cache
def everything() -> list[tuple[str, str]]:
    """Title and text of every fragment of the demo, those that are equal once."""
    read = (read_document(page.key, page.content) for language in LANGUAGES for page in pages(language))
    titles = {piece.text: document.title for document in read for piece in document.pieces}
    return [(title, text) for text, title in titles.items()]
