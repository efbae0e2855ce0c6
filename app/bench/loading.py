"""Measures a bulk load with the index over vectors kept row by row and built afterwards, and a change of the model under readers.

`python -m app.bench.loading 30000` prints what docs/measurements.md shows; it takes minutes and leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np

from app.bench.corpus import DIMENSIONS, Corpus, invent
from app.config import Settings
from app.embedded import embedded_database_url
from app.sessions import Identity
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.rights import local_administrator
from retrieval.database import Database
from retrieval.ingest.bulk import load, refresh_plans
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.reembedding import reembed
from retrieval.ingest.statistics import refresh_statistics
from retrieval.ingest.vector_index import build_index, tend_index
from retrieval.migrations import prepare
from retrieval.ports import Vectors
from retrieval.question import make_question
from retrieval.session import Session
from retrieval.store import Store
from retrieval.tuning import Tuning

BATCH = 256
ENQUEUE = "insert into embedding_queue (ns, fragment_id) select ns, fragment_id from fragment"


class Instant:
    """A provider that knows the vector of every text at once."""

    batch_size = BATCH

    def __init__(self, model: str, vectors: dict[str, np.ndarray]) -> None:
        self.model = model
        self.dimensions = DIMENSIONS
        self._vectors = vectors

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """The same vector for any question."""
        first = next(iter(self._vectors.values()))
        return np.stack([first for _ in texts])

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """The vectors that were given."""
        return np.stack([self._vectors[text] for text in texts])

    async def close(self) -> None:
        """Nothing is open."""


async def main(fragments: int) -> None:
    """Print the figures."""
    corpus = invent(fragments)
    vectors = {document.embedded: vector for document, vector in zip(corpus.documents(), corpus.vectors, strict=True)}
    embedder = Instant("first", vectors)
    kept = await loaded_with(corpus, embedder, index_first=True)
    print(f"index kept row by row: {kept:.0f} s for {fragments:,} fragments, {1000 * kept / fragments:.2f} ms each", flush=True)
    after = await loaded_with(corpus, embedder, index_first=False)
    print(f"index built afterwards: {after:.0f} s, {kept / after:.1f} times as fast", flush=True)


async def loaded_with(corpus: Corpus, embedder: Instant, index_first: bool) -> float:
    """The seconds from a full queue of embeddings to a base whose vectors all have an index."""
    async with new_store(embedder) as store:
        await fill(store, corpus)
        if index_first:
            await build_index(store.database)
        started = perf_counter()
        while await embed_pending(store, BATCH):
            pass
        loading = perf_counter() - started
        await tend_index(store, "bench", load_is_over=True)
        seconds = perf_counter() - started
        print(f"  vectors {loading:.0f} s, index {seconds - loading:.0f} s", flush=True)
        if not index_first:
            await change_model(store, embedder)
        return seconds


async def fill(store: Store, corpus: Corpus) -> None:
    """Store the texts, and queue them for their vectors."""
    namespace = await create_namespace(store.database, local_administrator(), "bench")
    async for _ in load(store.database, namespace.ns, (replace(one, vector=None) for one in corpus.documents())):
        pass
    await refresh_statistics(store.database, namespace.ns)
    await refresh_plans(store.database)
    async with store.database.writing() as connection:
        await connection.execute(ENQUEUE)


async def change_model(store: Store, embedder: Instant) -> None:
    """Re-embed all of it while one reader asks again and again."""
    other = Instant("second", {text: -vector for text, vector in embedder._vectors.items()})
    both, times, stop = replace(store, next_embedder=other), list[float](), asyncio.Event()
    calm = await asked(both)

    async def read() -> None:
        while not stop.is_set():
            times.append(await asked(both))
            await asyncio.sleep(0.01)

    reading, started = asyncio.create_task(read()), perf_counter()
    await reembed(both, other, lambda done, total: None)
    seconds = perf_counter() - started
    stop.set()
    await reading
    times.sort()
    middle, slow = (1000 * times[int(len(times) * share)] for share in (0.5, 0.95))
    print(
        f"another model: {seconds:.0f} s; a question meanwhile p50 {middle:.0f}, p95 {slow:.0f}, longest "
        f"{1000 * times[-1]:.0f} ms ({len(times):,} asked; {1000 * calm:.0f} ms before)",
        flush=True,
    )


async def asked(store: Store) -> float:
    """The seconds of one search by meaning that finds what it should."""
    question = make_question(store.tuning, "question", k=10)
    started = perf_counter()
    async with Session(store, Identity(None, True), deadline=asyncio.get_running_loop().time() + 60) as session:
        found = await (await session.search(question)).vector
    assert len(found) == 10
    return perf_counter() - started


@asynccontextmanager
async def new_store(embedder: Instant) -> AsyncIterator[Store]:
    """An empty base on a PostgreSQL of its own."""
    folder = Path(tempfile.mkdtemp(prefix="contextql-loading-"))
    embedded = await asyncio.to_thread(embedded_database_url, folder)
    try:
        config = Settings.model_fields["fts_config"].default
        base = await prepare(embedded.url, search_config=config, embedding_model=embedder.model, dimensions=DIMENSIONS)
        database = await Database.open(embedded.url, size=4)
        yield Store(database, base, Tuning(), embedder)
        await database.close()
    finally:
        await asyncio.to_thread(embedded.close)
        await asyncio.to_thread(shutil.rmtree, folder, True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
