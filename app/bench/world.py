"""The scratch database of a run: an embedded PostgreSQL in a temporary folder, filled with an invented corpus."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.bench.corpus import Corpus, invent
from app.config import LOCAL_MODEL, Settings
from app.embedded import embedded_database_url
from app.providers.local import DIMENSIONS
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.rights import local_administrator
from retrieval.database import Database
from retrieval.ingest.bulk import index_built_at_the_end, link, load, refresh_plans
from retrieval.ingest.statistics import refresh_statistics
from retrieval.migrations import prepare

LARGE, SMALL = "large", "small"
SMALL_DOCUMENTS = 400
LINKS_OF_DOCUMENT = 2


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """What a measurement works with. `scale` shortens a quick run; `folder` is gone after it."""

    url: str
    folder: Path
    postmaster: int
    large: Corpus
    small: Corpus
    scale: float
    say: Callable[[str], None]

    def times(self, count: int) -> int:
        """A number of repetitions, fewer in a quick run."""
        return max(1, round(count * self.scale))


@asynccontextmanager
async def made_world(documents: int, scale: float, say: Callable[[str], None]) -> AsyncIterator[World]:
    """Make the world and take it away again."""
    folder = Path(tempfile.mkdtemp(prefix="contextql-bench-"))
    try:
        embedded = await asyncio.to_thread(embedded_database_url, folder)
        try:
            say(f"loading {documents:,} fragments")
            large, small = invent(documents, 1), invent(SMALL_DOCUMENTS, 2)
            await fill(embedded.url, {LARGE: large, SMALL: small})
            yield World(embedded.url, folder, postmaster_of(folder), large, small, scale, say)
        finally:
            await asyncio.to_thread(embedded.close)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, True)


async def fill(url: str, corpora: dict[str, Corpus]) -> None:
    """Migrate the database and load each corpus into its namespace."""
    config = Settings.model_fields["fts_config"].default
    await prepare(url, search_config=config, embedding_model=LOCAL_MODEL, dimensions=DIMENSIONS)
    database = await Database.open(url, size=2)
    try:
        async with index_built_at_the_end(database):
            for name, corpus in corpora.items():
                namespace = await create_namespace(database, local_administrator(), name)
                async for _ in load(database, namespace.ns, corpus.documents()):
                    pass
                await link(database, namespace.ns, links(len(corpus.texts)))
                await refresh_statistics(database, namespace.ns)
        await refresh_plans(database)
    finally:
        await database.close()


def links(documents: int) -> list[tuple[str, str]]:
    """Every document links to a few others."""
    step = documents // 3 + 1
    return [(f"doc-{at}", f"doc-{(at + way * step) % documents}") for at in range(documents) for way in (1, 2)][
        : documents * LINKS_OF_DOCUMENT
    ]


def postmaster_of(folder: Path) -> int:
    """The process of the database server."""
    (file,) = folder.rglob("postmaster.pid")
    return int(file.read_text().splitlines()[0])
