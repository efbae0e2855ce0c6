"""How `search { hits }` grows with the base: 20,000 fragments against 200,000, the same query, request by request."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import orjson

from app.bench.at_size.corpus import Question
from app.bench.at_size.world import SizedWorld
from app.bench.line import Line
from app.bench.servers import Served, served_with, started
from app.config import LOCAL_MODEL
from app.providers.local import DIMENSIONS

BOUND = 1.6
QUESTIONS, ROUNDS = 50, 8
HITS = """query($question: String!) { search(question: $question) {
    hits { score fragment { id heading text } entity { key title } } degraded { code } } }"""


async def growth_of_hits(world: SizedWorld) -> AsyncIterator[Line]:
    """Two servers over the two bases of one PostgreSQL; every question is asked of both in turn, after both know its vector."""
    questions = world.corpus.questions(QUESTIONS, within=world.sizes.small_fragments)
    folder = world.folder / "growth"
    given = put_vectors(folder, questions, world)
    times: tuple[list[float], list[float]] = ([], [])
    async with AsyncExitStack() as stack:
        vectors = await stack.enter_async_context(given)
        urls = (world.small, world.open)
        both = [await stack.enter_async_context(serving(url, vectors.address, folder)) for url in urls]
        for number in range(ROUNDS + 1):
            for at, question in enumerate(questions):
                for place in (0, 1) if (number + at) % 2 else (1, 0):
                    seconds = await asked(both[place], question)
                    if number:  # the first round lets the servers learn the vectors
                        times[place].append(seconds)
    small, large = (1000 * median(seconds) for seconds in times)
    sizes = world.sizes.small_fragments, world.sizes.fragments
    note = f"p50 {large:.2f} ms of {sizes[1]:,} fragments against {small:.2f} ms of {sizes[0]:,}"
    yield Line("hits-growth", large / small, BOUND, note=note)


def put_vectors(folder: Path, questions: list[Question], world: SizedWorld) -> Any:
    """A provider that knows vectors of the questions, from the clusters of the corpus."""
    folder.mkdir(exist_ok=True)
    texts = [{"text": question.text} for question in questions]
    (folder / "set.json").write_bytes(orjson.dumps({"questions": texts}))
    np.save(folder / "questions.npy", world.corpus.asked[np.arange(len(questions)) % len(world.corpus.asked)])
    return started(["-m", "app.bench.rivals.given_vectors"], {"BENCH_EXCHANGE": str(folder)}, "BENCH_PORT")


@asynccontextmanager
async def serving(url: str, vectors: str, folder: Path) -> AsyncIterator[Served]:
    """`contextql serve` over one of the bases."""
    environment = {
        "CB_DATABASE_URL": url, "CB_LOCAL_ADMIN": "true", "CB_DATA_DIR": str(folder), "CB_EMBEDDING_PROVIDER": "openai",
        "CB_OPENAI_BASE_URL": f"{vectors}/v1", "CB_EMBEDDING_MODEL": LOCAL_MODEL, "CB_EMBEDDING_DIMENSIONS": str(DIMENSIONS),
    }  # fmt: skip
    async with served_with(environment) as served:
        yield served


async def asked(served: Served, question: Question) -> float:
    """Ask one question; gives the seconds, raises when it went without its vector or found nothing."""
    before = time.perf_counter()
    answer: Any = await served.ask(HITS, question=question.text)
    seconds = time.perf_counter() - before
    search = answer["data"]["search"]
    if search["degraded"] or not search["hits"]:
        raise RuntimeError(f"the answer is not whole: {search}")
    return seconds
