"""The bases of the measurements at size: an embedded PostgreSQL in a folder that is kept, loaded anew when something changed."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.bench.at_size.corpus import Corpus, invent
from app.bench.at_size.loading import STORE, batch_values, load
from app.bench.at_size.shares import Case, cases_of, store_rights
from app.embedded import EmbeddedDatabase, embedded_database_url
from retrieval.database import Database
from retrieval.errors import DatabaseUnavailable
from retrieval.ingest.sql import statement
from retrieval.ingest.vector_index import INDEX
from retrieval.migrations import make_vector_table, migrations

FRAGMENTS, SMALL_FRAGMENTS, QUESTIONS = 200_000, 20_000, 200
RESTRICTED, OPEN, SMALL, SCRATCH = "bench_restricted", "bench_open", "bench_small", "bench_scratch"
SETTINGS = {"shared_buffers": "2GB", "effective_cache_size": "6GB", "maintenance_work_mem": "1GB"}
"""Of a server that has a base of this size: what is searched fits into its memory, as LanceDB's index fits into its own."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; fewer fragments find a broken measurement and give no figures."""

    fragments: int = FRAGMENTS
    small_fragments: int = SMALL_FRAGMENTS
    questions: int = QUESTIONS


@dataclass(frozen=True, slots=True, eq=False)
class SizedWorld:
    """What a measurement works with: in `restricted` every document has readers of its own, in `open` and `small` none."""

    folder: Path
    embedded: EmbeddedDatabase
    sizes: Sizes
    corpus: Corpus
    cases: list[Case]
    restricted: str
    open: str
    small: str
    say: Callable[[str], None]


@asynccontextmanager
async def kept_world(folder: Path, sizes: Sizes, say: Callable[[str], None]) -> AsyncIterator[SizedWorld]:
    """Open the bases of a folder; the first time, and when what is stored would differ, loading takes minutes."""
    with alone_in(folder):
        say(f"inventing {sizes.fragments:,} fragments")
        corpus = await asyncio.to_thread(invent, sizes.fragments, sizes.questions)
        cases = cases_of(corpus)
        with await asyncio.to_thread(embedded_database_url, folder, SETTINGS) as embedded:

            async def restricted(url: str) -> None:
                await load(url, corpus, restricted=True)
                await with_rights(url, cases)

            async def open_to_all(url: str) -> None:
                await load(url, corpus, restricted=False)

            async def small(url: str) -> None:
                await load(url, corpus.head(sizes.small_fragments), restricted=False)

            stored = {RESTRICTED: restricted, OPEN: open_to_all, SMALL: small}
            urls = {name: await kept(embedded, name, fill, corpus, say) for name, fill in stored.items()}
            yield SizedWorld(folder, embedded, sizes, corpus, cases, urls[RESTRICTED], urls[OPEN], urls[SMALL], say)


async def kept(
    embedded: EmbeddedDatabase,
    name: str,
    fill: Callable[[str], Awaitable[None]],
    corpus: Corpus,
    say: Callable[[str], None],
    made_by: str = "",
) -> str:
    """The URL of a database that was filled with just this; filled now when it was not. `made_by` is a part of what "this" is."""
    url, made_from = url_of(embedded, name), f"{name} {digest_of(corpus)}"
    if made_by:
        made_from += f" {hashlib.sha256(made_by.encode()).hexdigest()}"
    if not is_whole(embedded, name, made_from):
        say(f"loading {name}")
        empty_database(embedded, name)
        await fill(url)
        await asyncio.to_thread(embedded.sql, "vacuum analyze", name)
        # Last, so that a load that was stopped is done again.
        embedded.sql(f"comment on database {name} is '{made_from}'")
        embedded.sql("checkpoint")
    return url


def is_whole(embedded: EmbeddedDatabase, name: str, made_from: str) -> bool:
    """Whether a database was filled with just this, under migrations that are as they were; later ones come when it is opened."""
    known = "select shobj_description(oid, 'pg_database') from pg_database where datname = "
    if embedded.sql(f"{known} '{name}'").strip() != made_from:
        return False
    applied = embedded.sql("select digest from migration order by number", name).split()
    return applied == [one.digest for one in migrations()][: len(applied)]


def empty_database(embedded: EmbeddedDatabase, name: str = SCRATCH) -> str:
    """The URL of a database that has nothing in it."""
    embedded.sql(f"drop database if exists {name} with (force)")
    embedded.sql(f"create database {name} template template0")
    return url_of(embedded, name)


def url_of(embedded: EmbeddedDatabase, name: str) -> str:
    """The URL of another database of the same server."""
    return embedded.url.replace("@/contextql?", f"@/{name}?")


async def with_rights(url: str, cases: list[Case]) -> None:
    """Store who sees what."""
    database = await Database.open(url, size=2)
    try:
        await store_rights(database, cases)
    finally:
        await database.close()


def digest_of(corpus: Corpus) -> str:
    """Changes with whatever changes the stored rows: the corpus, the form of words, the index, the ways of loading."""
    digest = hashlib.sha256()
    for array in (corpus.spaces, corpus.topics, corpus.titles, corpus.texts, corpus.vectors, corpus.asked):
        digest.update(array.tobytes())
    sample = batch_values(corpus, list(range(len(corpus.spaces))), range(1), True)
    counts = (statement(name) for name in ("refresh_words", "refresh_scripts", "refresh_fragments"))
    sources = (inspect.getsource(one) for one in (make_vector_table, store_rights, load))
    for text in (INDEX, STORE, repr(sample[:-1]), *counts, *sources):
        digest.update(text.encode())
    return digest.hexdigest()


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold the folder: two runs at once would measure each other."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "bench.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DatabaseUnavailable(f"Another run works in {folder}; wait for it or set another CB_BENCH_DIR.") from None
        yield
