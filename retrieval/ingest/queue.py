"""Embeds the fragments that wait for their vector; what fails waits longer and stops nothing else."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from pgvector import HalfVector

from retrieval.database import Connection, Database, Record
from retrieval.errors import ProviderUnavailable
from retrieval.ingest.indexing import indexed
from retrieval.ingest.sql import statement
from retrieval.model import Model, models_held, models_of
from retrieval.ports import Embedder
from retrieval.retrying import retried
from retrieval.store import Store, digest_of
from retrieval.tuning import CLAIM_SECONDS, EMBEDDING_DELAY, EMBEDDING_DELAY_MOST, OUTAGE_DELAY_MOST


@dataclass(frozen=True, slots=True)
class Waiting:
    """A claimed fragment with the text that is embedded."""

    fragment_id: int
    entity_id: int
    attempts: int
    text: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Embedding:
    """A model of the base with the provider that speaks for it."""

    embedder: Embedder
    model: Model


@dataclass(slots=True)
class Made:
    """What a batch came to: vectors by digest, reasons of failure by digest, and whether the provider seems away."""

    vectors: dict[bytes, np.ndarray] = field(default_factory=dict)
    failures: dict[bytes, str] = field(default_factory=dict)
    refused_in_a_row: int = 0


async def embed_pending(store: Store, batch: int) -> int:
    """Claim up to `batch` fragments and embed them; gives how many were claimed, 0 when none is due.

    Without a provider of the base's model nothing is claimed: the fragments wait until one is configured.
    """
    async with store.database.writing() as connection:
        model = (await models_of(connection)).current
        try:
            embedder = store.embedder_of(model)
        except ProviderUnavailable:
            return 0
        claimed = await connection.fetch(statement("claim"), batch, CLAIM_SECONDS)
    assert model is not None
    spaces: dict[int, dict[int, int]] = {}
    for row in claimed:
        spaces.setdefault(row["ns"], {})[row["fragment_id"]] = row["attempts"]
    try:
        for ns, attempts in sorted(spaces.items()):
            if not await embed_claimed(store, Embedding(embedder, model), ns, attempts):
                await release(store.database, {ns: attempts})
    except BaseException:
        with suppress(Exception):
            await asyncio.shield(release(store.database, spaces))
        raise
    return len(claimed)


async def release(database: Database, spaces: dict[int, dict[int, int]]) -> None:
    """Give claimed fragments back at once, when the process ends or the database went away in between."""
    async with database.writing() as connection:
        for ns, attempts in sorted(spaces.items()):
            await connection.execute(statement("release"), ns, list(attempts))


async def pending(database: Database, spaces: Sequence[int]) -> int:
    """How many fragments of some namespaces wait for their vector."""
    async with database.reading() as connection:
        count: int = await connection.fetchval(statement("pending"), list(spaces))
        return count


async def embed_claimed(store: Store, embedding: Embedding, ns: int, attempts: dict[int, int]) -> bool:
    """Embed the claimed fragments of one namespace, each text once, and store what succeeded.

    False when the base was given another model meanwhile: then nothing is stored.
    """
    number = embedding.model.number
    async with store.database.reading() as connection:
        rows = await connection.fetch(statement("texts_to_embed"), ns, list(attempts))
        waiting = [waiting_of(embedding.model.name, row, attempts) for row in rows]
        kept = await connection.fetch(statement("kept_vectors"), ns, [one.digest for one in waiting], number)
    made = await make_missing(store, embedding.embedder, waiting, {row["digest"] for row in kept})
    return await retried(lambda: write(store.database, ns, number, list(attempts), waiting, made))


async def make_missing(store: Store, embedder: Embedder, waiting: Sequence[Waiting], known: Collection[bytes]) -> Made:
    """Embed the texts that have no vector yet, each once."""
    texts = {one.digest: one.text for one in waiting if one.digest not in known}
    made = Made()
    todo = list(texts.items())
    while todo:
        size = embedder.batch_size  # it shrinks when the provider takes fewer
        await make(store, embedder, todo[:size], made)
        todo = todo[size:]
    return made


def waiting_of(model: str, row: Record, attempts: dict[int, int]) -> Waiting:
    """A claimed fragment from its row."""
    text = indexed(row["title"], row["heading"], row["text"]).embedded
    return Waiting(row["fragment_id"], row["entity_id"], attempts[row["fragment_id"]], text, digest_of(model, text))


async def make(store: Store, embedder: Embedder, texts: list[tuple[bytes, str]], made: Made) -> None:
    """Embed some texts; a batch that is refused is halved until the text that is to blame stands alone.

    When nothing but refusals comes, down to single texts and beyond, the provider is away, and the rest is not even tried.
    """
    if not made.vectors and made.refused_in_a_row > patience(embedder):
        made.failures.update((digest, "The embedding provider does not answer.") for digest, _ in texts)
        return
    started = perf_counter()
    try:
        vectors = checked(embedder, await embedder.embed_passages([text for _, text in texts]), len(texts))
    except Exception as error:
        made.refused_in_a_row += 1
        if len(texts) == 1:
            made.failures[texts[0][0]] = f"{type(error).__name__}: {error}"[:500]
            return
        middle = len(texts) // 2
        await make(store, embedder, texts[:middle], made)
        await make(store, embedder, texts[middle:], made)
    else:
        made.refused_in_a_row = 0
        made.vectors.update(zip((digest for digest, _ in texts), vectors, strict=True))
    finally:
        store.observer.provider_call("embed_passages", len(texts), perf_counter() - started)


def patience(embedder: Embedder) -> int:
    """How many refusals it takes to reach the second single text of a batch."""
    return embedder.batch_size.bit_length() + 1


def checked(embedder: Embedder, vectors: np.ndarray, count: int) -> np.ndarray:
    """The vectors, one a text; raises `ProviderUnavailable` for a wrong shape and for zero or non-finite ones."""
    if vectors.shape != (count, embedder.dimensions):
        raise ProviderUnavailable(f"{vectors.shape} came back instead of {count} vectors of {embedder.dimensions}.")
    if not np.isfinite(vectors).all() or not (np.abs(vectors).max(axis=1) > 0).all():
        raise ProviderUnavailable("A vector came back that is zero or not finite.")
    return vectors


async def write(database: Database, ns: int, number: int, claimed: list[int], waiting: list[Waiting], made: Made) -> bool:
    """Store vectors and take their fragments out of the queue; the others wait longer. One transaction.

    False, and nothing is stored, when the base holds another model than the one of this number by now.
    """
    failed = [one for one in waiting if one.digest in made.failures]
    async with database.writing() as connection:
        model = (await models_held(connection)).current
        if model is None or model.number != number:
            return False
        held = await keep(connection, ns, number, waiting, made)
        await connection.execute(
            statement("put_vectors"), ns, [one.fragment_id for one in held], [one.digest for one in held], number
        )
        await connection.execute(statement("dequeue"), ns, claimed)
        for one in failed:
            seconds = delay(one.attempts, OUTAGE_DELAY_MOST if not made.vectors else EMBEDDING_DELAY_MOST)
            await connection.execute(statement("postpone"), ns, [one.fragment_id], [seconds], made.failures[one.digest])
    return True


async def keep(connection: Connection, ns: int, number: int, waiting: Sequence[Waiting], made: Made) -> list[Waiting]:
    """Keep new vectors by their texts; gives the fragments that stand and can have one, held until the transaction ends."""
    embedded = [one for one in waiting if one.digest not in made.failures]
    # An embedding that is being written and a permission set that is being changed wait for each other here.
    rows = await connection.fetch(statement("hold_fragments"), ns, [one.fragment_id for one in embedded])
    standing = {row["fragment_id"] for row in rows}
    held = [one for one in embedded if one.fragment_id in standing]
    owners = {one.digest: one.entity_id for one in held if one.digest in made.vectors}
    await connection.execute(
        statement("keep_vectors"), ns, list(owners), [HalfVector(made.vectors[digest]) for digest in owners],
        list(owners.values()), number,
    )  # fmt: skip
    return held


def delay(attempts: int, most: float) -> float:
    """Seconds until the next attempt: doubled each time, spread by half, at most `most`."""
    doubled: float = min(most, EMBEDDING_DELAY * 2 ** min(attempts - 1, 20))
    return doubled * random.uniform(0.5, 1.0)
