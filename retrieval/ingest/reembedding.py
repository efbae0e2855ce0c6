"""Re-embeds a base with another model while it is read and written, and changes over in one moment.

The new vectors go into a table of their own, which nobody reads. What is missing in it is all that is known of the progress, so
that whoever was killed, at whatever point, is followed by the next: a fragment written meanwhile is one that is missing. When
next to nothing is missing, one transaction keeps writers out for a moment, brings permission sets in line, queues the rest for
the new model and exchanges the tables. Readers wait for no more than the exchange of names.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import asyncpg

from retrieval.administration.rights import local_administrator
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import note_write
from retrieval.database import Connection, Database
from retrieval.errors import BadInput, Conflict, ProviderUnavailable
from retrieval.ingest.leases import holding, take_lease
from retrieval.ingest.queue import Embedding, Made, Waiting, keep, make_missing, waiting_of
from retrieval.ingest.sql import statement
from retrieval.ingest.vector_index import build_index
from retrieval.migrations import make_vector_table
from retrieval.model import Model, models_held, models_of
from retrieval.ports import Embedder
from retrieval.retrying import retried
from retrieval.store import Store
from retrieval.tuning import (
    LOCK_MILLISECONDS,
    LOCK_TRIES,
    OUTAGE_DELAY_MOST,
    REEMBEDDING_FAILURES_MOST,
    REEMBEDDING_LEASE_SECONDS,
    SWITCH_WAITING_MOST,
)

T = TypeVar("T")
LEASE = "reembedding"
Progress = Callable[[int, int], None]
"""Is told how many fragments have their new vector, and how many there are."""

ABSENT = """
    select f.ns, f.fragment_id from fragment f
     where (f.ns, f.fragment_id) > ($1, $2)
       and not exists (select from fragment_vector_next v where v.ns = f.ns and v.fragment_id = f.fragment_id)
     order by f.ns, f.fragment_id limit $3"""
PUT = """
    insert into fragment_vector_next (ns, fragment_id, entity_id, acl_id, embedding)
    select f.ns, f.fragment_id, f.entity_id, f.acl_id, c.embedding
      from unnest($2::bigint[], $3::bytea[]) as g(fragment_id, digest)
      join fragment f on f.ns = $1 and f.fragment_id = g.fragment_id
      join vector_cache c on c.ns = $1 and c.model_number = $4 and c.digest = g.digest
     order by f.fragment_id
    on conflict (ns, fragment_id) do nothing"""
COUNT = "select (select count(*)::int from fragment_vector_next), (select count(*)::int from fragment)"
ALIGN = """
    update fragment_vector_next v set acl_id = f.acl_id
      from fragment f where f.ns = v.ns and f.fragment_id = v.fragment_id and f.acl_id <> v.acl_id"""
MISSING = """
    select count(*)::int from fragment f
     where not exists (select from fragment_vector_next v where v.ns = f.ns and v.fragment_id = f.fragment_id)"""
REQUEUE = (
    "delete from embedding_queue",
    """insert into embedding_queue (ns, fragment_id)
       select f.ns, f.fragment_id from fragment f
        where not exists (select from fragment_vector_next v where v.ns = f.ns and v.fragment_id = f.fragment_id)""",
)
"""Statements about a table that is there during a re-embedding only."""


@dataclass(frozen=True, slots=True)
class Amount:
    """What a re-embedding would take: fragments, how many have their vector already, characters of all texts."""

    fragments: int
    done: int
    characters: int


@dataclass(slots=True)
class Failures:
    """Fragments that the new model did not take in a walk, with the reason, and how often in a row nothing came of a batch."""

    reasons: dict[tuple[int, int], str] = field(default_factory=dict)
    in_a_row: int = 0


async def amount(database: Database) -> Amount:
    """How much there is to do; changes nothing."""
    async with database.snapshot() as connection:
        row = await connection.fetchrow(statement("reembedding_work"))
        done = 0
        if (await models_of(connection)).following is not None:
            done = (await connection.fetchrow(COUNT))[0]
        return Amount(row["fragments"], done, row["characters"])


async def reembed(store: Store, embedder: Embedder, on_progress: Progress, *, allow_missing: bool = False) -> Model:
    """Bring the base to the model of `embedder`, from wherever an earlier run ended; gives the model as the base knows it now.

    Raises `ProviderUnavailable` when the provider fails again and again, `Conflict` when another re-embedding is under way or
    texts were refused; `allow_missing` changes over without the vectors of those: they wait in the queue.
    """
    database = store.database
    async with leased(database):
        await finish(database)
        model = await begin(database, embedder)
        if model is None:
            current = await current_model(database)
            assert current is not None
            return current
        while True:
            failures = Failures()
            await fill(store, Embedding(embedder, model), failures, on_progress)
            if failures.reasons and not allow_missing:
                raise Conflict(refused(failures))
            if await counted(database) >= store.tuning.index_from:
                await build_index(database, "fragment_vector_next")
            if await patiently(partial(switch, database, model, len(failures.reasons))):
                break
        await finish(database)
        return model


async def begin(database: Database, embedder: Embedder) -> Model | None:
    """Make the table of the new vectors, or find the one that is there; None when the base holds that model already."""
    wanted = embedder.model, embedder.dimensions

    async def write() -> Model | None:
        async with impatient(database) as connection:
            await connection.execute("lock table fragment in share row exclusive mode")
            models = await models_of(connection)
            if models.current is None:
                raise BadInput("The base holds no vectors yet; set CB_EMBEDDING_PROVIDER to the model and start a server.")
            if (models.current.name, models.current.dimensions) == wanted:
                return None
            if models.following is None:
                await make_vector_table(connection, "fragment_vector_next", embedder.dimensions)
                await connection.execute(statement("begin_reembedding"), *wanted)
                await note_change(connection, Action.BEGIN_REEMBEDDING, *wanted)
            elif (models.following.name, models.following.dimensions) != wanted:
                raise Conflict(
                    f"The base is being re-embedded with {models.following.name} ({models.following.dimensions} numbers): "
                    "finish that, or `contextql reembed --abandon`."
                )
            return (await models_of(connection)).following

    return await patiently(write)


async def abandon(database: Database) -> bool:
    """Drop the new vectors and stay with the model that is there; false when no re-embedding was begun."""

    async def write() -> bool:
        async with impatient(database) as connection:
            await connection.execute("lock table fragment in share row exclusive mode")
            given_up = (await models_of(connection)).following
            if given_up is None:
                return False
            await connection.execute(statement("abandon_reembedding"))
            await note_change(connection, Action.ABANDON_REEMBEDDING, given_up.name, given_up.dimensions)
            await connection.execute("drop table fragment_vector_next")
            return True

    async with leased(database):
        begun = await patiently(write)
        await forget_others(database)
        return begun


async def fill(store: Store, embedding: Embedding, failures: Failures, on_progress: Progress) -> None:
    """Walk all fragments again and again until a walk makes next to nothing, and what was refused was refused again."""
    while True:
        made, after, before = 0, (-1, -1), set(failures.reasons)
        failures.reasons.clear()
        async with store.database.reading() as connection:
            done, fragments = await connection.fetchrow(COUNT)
        while True:
            on_progress(done + made, max(fragments, done + made))
            async with store.database.reading() as connection:
                rows = await connection.fetch(ABSENT, *after, embedding.embedder.batch_size)
            if not rows:
                break
            after = rows[-1]["ns"], rows[-1]["fragment_id"]
            for ns in sorted({row["ns"] for row in rows}):
                made += await embed(store, embedding, ns, [row["fragment_id"] for row in rows if row["ns"] == ns], failures)
        if made <= SWITCH_WAITING_MOST and failures.reasons.keys() == before:
            return


async def embed(store: Store, embedding: Embedding, ns: int, fragments: list[int], failures: Failures) -> int:
    """Embed some fragments of a namespace with the new model, each text once; gives how many have their vector now."""
    number = embedding.model.number
    while True:
        async with store.database.reading() as connection:
            rows = await connection.fetch(statement("texts_to_embed"), ns, fragments)
            waiting = [waiting_of(embedding.model.name, row, dict.fromkeys(fragments, 0)) for row in rows]
            kept = await connection.fetch(statement("kept_vectors"), ns, [one.digest for one in waiting], number)
        made = await make_missing(store, embedding.embedder, waiting, {row["digest"] for row in kept})
        refused = {(ns, one.fragment_id): made.failures[one.digest] for one in waiting if one.digest in made.failures}
        if made.vectors or not refused or await answers(embedding.embedder):  # else not these texts are to blame
            failures.reasons.update(refused)
            failures.in_a_row = 0
            return await retried(partial(write, store.database, embedding.model, ns, waiting, made))
        failures.in_a_row += 1
        if failures.in_a_row >= REEMBEDDING_FAILURES_MOST:
            reason = next(iter(refused.values()))
            raise ProviderUnavailable(f"The provider of the new model fails: {reason} The next run goes on from here.")
        await asyncio.sleep(min(OUTAGE_DELAY_MOST, 0.2 * 4**failures.in_a_row))


async def answers(embedder: Embedder) -> bool:
    """Whether a provider embeds an innocent text."""
    try:
        await embedder.embed_passages(["ready"])
    except Exception:
        return False
    return True


async def write(database: Database, model: Model, ns: int, waiting: Sequence[Waiting], made: Made) -> int:
    """Store new vectors beside those in use, in one transaction; raises `Conflict` when the re-embedding was abandoned."""
    async with database.writing() as connection:
        if (await models_held(connection)).following != model:
            raise Conflict("The re-embedding was abandoned or finished elsewhere.")
        held = await keep(connection, ns, model.number, waiting, made)
        fragments, digests = [one.fragment_id for one in held], [one.digest for one in held]
        await connection.execute(PUT, ns, fragments, digests, model.number)
        return len(held)


async def counted(database: Database) -> int:
    """How many new vectors there are."""
    async with database.reading() as connection:
        return int((await connection.fetchrow(COUNT))[0])


async def current_model(database: Database) -> Model | None:
    """The model that the base holds."""
    async with database.reading() as connection:
        return (await models_of(connection)).current


def refused(failures: Failures) -> str:
    """What is said when texts were refused."""
    (ns, fragment_id), reason = next(iter(failures.reasons.items()))
    return (
        f"{len(failures.reasons)} fragments were refused by the new model, first {fragment_id} of namespace {ns}: {reason} "
        "The base stays with the model it has. Mend that and run again; `--allow-missing` changes over without them."
    )


# ------------------------------------------------------------------------------------------------ the moment of the switch


async def switch(database: Database, model: Model, allowed: int) -> bool:
    """Exchange the tables of the two models in one transaction; false when too much is still missing."""
    async with database.writing() as connection:
        await connection.execute(ALIGN)  # most of it before anybody has to wait
    async with impatient(database) as connection:
        await connection.execute("lock table fragment in share row exclusive mode")
        if (await models_of(connection)).following != model:
            raise Conflict("The re-embedding was abandoned or finished elsewhere.")
        if await connection.fetchval(MISSING) > allowed + SWITCH_WAITING_MOST:
            return False
        await connection.execute(ALIGN)
        for one in REQUEUE:
            await connection.execute(one)
        await connection.execute("lock table fragment_vector, fragment_vector_next in access exclusive mode")
        await rename(connection, "fragment_vector", "fragment_vector_former")
        await connection.execute("alter table fragment_vector rename to fragment_vector_former")
        await rename(connection, "fragment_vector_next", "fragment_vector")
        await connection.execute("alter table fragment_vector_next rename to fragment_vector")
        await connection.execute(statement("switch_model"))
        await note_change(connection, Action.REEMBED, model.name, model.dimensions)
        await connection.execute(statement("notify"))
    return True


async def note_change(connection: Connection, action: Action, model: str, dimensions: int) -> None:
    """Note a step on the way to another model; only the command line takes one."""
    await note_write(connection, local_administrator(), action, what={"model": model, "dimensions": dimensions})


async def rename(connection: Connection, table: str, name: str) -> None:
    """Rename the indexes and constraints of a table that is about to be renamed."""
    for row in await connection.fetch(statement("rename_parts"), table, name):
        await connection.execute(row[0])


async def finish(database: Database) -> bool:
    """Drop what a switch left behind: the vectors of the model from before; false when there is nothing."""

    async def write() -> bool:
        async with impatient(database) as connection:
            await connection.execute("drop table if exists fragment_vector_former")
            return True

    if not await has_former(database):
        return False
    await forget_others(database)  # so that one who is killed in between comes here again
    return await patiently(write)


async def forget_others(database: Database) -> None:
    """Forget what is kept of other models: much at once, so in a transaction of its own, which holds no table."""

    async def write() -> None:
        async with database.writing() as connection:
            await connection.execute("set local statement_timeout = 0")
            await connection.execute(statement("forget_other_models"))

    await retried(write)  # writers mark the vectors of former texts meanwhile


async def has_former(database: Database) -> bool:
    """Whether the table of the model from before a switch is still there."""
    async with database.reading() as connection:
        return bool(await connection.fetchval("select to_regclass('fragment_vector_former') is not null"))


async def finish_after_another(database: Database, holder: str) -> bool:
    """Do the same for a process that was killed between the switch and its end."""
    if not await has_former(database):
        return False
    if not await take_lease(database, LEASE, holder, REEMBEDDING_LEASE_SECONDS):
        return False
    async with holding(database, LEASE, holder, REEMBEDDING_LEASE_SECONDS):
        return await finish(database)


@asynccontextmanager
async def impatient(database: Database) -> AsyncIterator[Connection]:
    """A transaction that waits for a lock only for a moment, since everybody behind it would wait as well."""
    async with database.writing() as connection:
        await connection.execute("select set_config('lock_timeout', $1, true)", f"{LOCK_MILLISECONDS}ms")
        await connection.execute("set local statement_timeout = 0")
        yield connection


async def patiently(write: Callable[[], Awaitable[T]]) -> T:
    """Try an impatient transaction until its moment comes; raises `Conflict` when it does not."""
    for attempt in range(LOCK_TRIES):
        try:
            return await write()
        except asyncpg.LockNotAvailableError:
            await asyncio.sleep(min(2.0, 0.05 * (attempt + 1)))
    raise Conflict("Long transactions keep the tables of vectors; end them (pg_stat_activity shows them) and run again.")


@asynccontextmanager
async def leased(database: Database) -> AsyncIterator[None]:
    """Hold the lease of re-embedding while the block runs; raises `Conflict` when another process holds it for longer than a
    killed one would."""
    holder = uuid.uuid4().hex
    waited = 0.0
    while not await take_lease(database, LEASE, holder, REEMBEDDING_LEASE_SECONDS):
        if waited > 1.5 * REEMBEDDING_LEASE_SECONDS:
            raise Conflict("Another process re-embeds this base; wait until it ends.")
        await asyncio.sleep(0.5)
        waited += 0.5
    async with holding(database, LEASE, holder, REEMBEDDING_LEASE_SECONDS):
        yield
