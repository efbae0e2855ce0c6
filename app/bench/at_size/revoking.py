"""What it costs to revoke a grant that covers half of a base, against the update of one row, and whether the next read obeys."""

from __future__ import annotations

from collections.abc import AsyncIterator
from statistics import median
from time import perf_counter

from app.bench.at_size.asking import open_base, question_by_meaning, session_of
from app.bench.at_size.loading import namespace_names
from app.bench.at_size.world import SizedWorld
from app.bench.line import Line
from retrieval.administration.grants import grant, revoke
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.administration.rights import local_administrator
from retrieval.administration.tokens import create_token
from retrieval.errors import NamespaceNotFound
from retrieval.question import make_question
from retrieval.store import Store

BOUND = 20.0
ROUNDS, WARM_UP = 100, 10
READER = "reader of half"
ONE_ROW = "update namespace set title = $2 where name = $1"


async def revoking_half(world: SizedWorld) -> AsyncIterator[Line]:
    """Grant, read, revoke and read again; each time one row is updated in a transaction of its own too."""
    admin, space = local_administrator(), namespace_names()[0]
    async with open_base(world.open) as store:
        await upsert_principals(store.database, admin, [PrincipalInput(READER, "SERVICE")])
        token = (await create_token(store.database, admin, READER)).token
        covered, revoked, row, disobeyed = await covered_by(store, space), list[float](), list[float](), 0
        for number in range(WARM_UP + ROUNDS):
            await grant(store.database, admin, READER, space)
            if not await reads(store, world, token, space):
                raise RuntimeError("the grant gives nothing to read, so that a revocation could not be seen")
            revoked.append(await timed_revocation(store, space))
            disobeyed += await reads(store, world, token, space)
            row.append(await timed_update(store, space, number))
    times = [1000 * median(seconds[WARM_UP:]) for seconds in (revoked, row)]
    note = f"p50 {times[0]:.2f} ms against {times[1]:.2f} ms, {covered:,} fragments covered"
    yield Line("revoking-of-one-row", times[0] / times[1], BOUND, note=note)
    yield Line("reads-after-revoking", disobeyed, 0, "", f"of {WARM_UP + ROUNDS} that found what was revoked", digits=0)


async def timed_revocation(store: Store, space: str) -> float:
    """Seconds of the product's own revocation."""
    started = perf_counter()
    await revoke(store.database, local_administrator(), READER, space)
    return perf_counter() - started


async def timed_update(store: Store, space: str, number: int) -> float:
    """Seconds of the update of one row."""
    started = perf_counter()
    async with store.database.writing() as connection:
        await connection.execute(ONE_ROW, space, f"Half of all, {number}")
    return perf_counter() - started


async def reads(store: Store, world: SizedWorld, token: str, space: str) -> bool:
    """Whether a new request finds anything by meaning in the namespace."""
    async with session_of(store, token) as session:
        known = question_by_meaning(store, world.corpus, 0)
        question = make_question(store.tuning, known.text, namespaces=[space], k=10, channels=known.channels)
        try:
            return bool((await (await session.search(question)).lists.vector_pool).hits)
        except NamespaceNotFound:
            return False


async def covered_by(store: Store, space: str) -> int:
    """How many fragments the grant covers."""
    async with store.database.reading() as connection:
        count: int = await connection.fetchval(
            "select sum(s.fragments)::int from fragment_statistics s join namespace n using (ns) where n.name = $1", space
        )
    return count
