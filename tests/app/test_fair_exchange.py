"""Processes of one deployment count the points of a principal together, and each by itself while the database is away."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import asyncpg
import pytest

from app.fair_exchange import KEPT_SECONDS, Exchange
from app.fair_use import FairLimits, FairUse
from retrieval.database import Database
from retrieval.errors import ContextQLError
from retrieval.identity import Identity
from retrieval.migrations import Base
from retrieval.store import Store
from schema.limits import OperationNote
from tests.fixtures.clock import Clock
from tests.fixtures.writing import ADMIN, rows, values

LIMITS = FairLimits(points=6_000)


@dataclass
class Process:
    database: Database
    clock: Clock
    fair: FairUse = field(init=False)
    exchange: Exchange = field(init=False)

    def __post_init__(self) -> None:
        self.fair = FairUse(LIMITS, clock=self.clock)
        self.exchange = Exchange(self.fair, self.database, self.clock)

    async def use(self, points: int) -> bool:
        """Whether an operation of the administrator with so many points is let in."""
        place = await self.fair.enter(Identity(None, True), OperationNote())
        await place.belongs_to(ADMIN)
        refused = place.charge(points)
        place.leave()
        return refused is None

    @property
    def left(self) -> float:
        share = self.fair.share(f"{ADMIN.principal_id}:{ADMIN.name}")
        return share.level


STANDING = """
    create function now() returns timestamptz language sql stable as $$ select timestamptz '2026-01-01 00:00:30+00' $$;
    alter table points_used alter at set default public.now();
    do $$ begin
        execute format('alter role %I in database %I set search_path = public, pg_catalog', current_user, current_database());
    end $$"""


@pytest.fixture
def migrated(migrated: tuple[str, Base]) -> tuple[str, Base]:
    """A base whose clock stands, since what is counted by the minute is counted differently when a minute ends in between."""

    async def stand() -> None:
        connection = await asyncpg.connect(migrated[0])
        await connection.execute(STANDING)
        await connection.close()

    asyncio.run(stand())
    return migrated


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def two(store: Store, clock: Clock) -> list[Process]:
    return [Process(store.database, clock) for _ in range(2)]


async def exchanged(*processes: Process) -> None:
    """Twice, so that each has told before the other hears."""
    for process in (*processes, *processes):
        assert await process.use(1)
        await process.exchange.once()


async def test_what_one_process_lets_in_is_taken_from_the_share_in_the_other_once(two: list[Process], clock: Clock) -> None:
    one, other = two
    await exchanged(one, other)
    assert (one.left, other.left) == (6_000 - 3, 6_000 - 4)  # the first has not heard the last of the second
    assert await one.use(3_000)
    assert await other.use(1)
    for _ in range(3):
        for process in two:
            await process.exchange.once()
        assert await one.use(1)
    await one.exchange.once()
    assert await other.use(1)
    await other.exchange.once()
    assert other.left == 6_000 - 4 - 3_000 - 1 - 3 - 1
    assert not await other.use(3_000)
    clock.now += 1  # refused at once until then; a hundred points have come back
    assert await other.use(3_000)


async def test_a_process_without_requests_asks_nothing_of_the_database(two: list[Process], store: Store) -> None:
    one, other = two
    assert await one.use(10)
    await one.exchange.once()
    other.exchange._database = await Database.open(store.database.url, size=1)
    await other.exchange._database.close()
    await other.exchange.once()
    assert await rows(store, "select points from points_used") == [(10,)]
    assert other.left == 6_000


async def test_nobody_is_named_and_nothing_remains(two: list[Process], store: Store, clock: Clock) -> None:
    await exchanged(*two)
    assert not [row for row in await values(store, "select p::text from points_used p") if "administrator" in row]
    async with store.database.writing() as connection:
        await connection.execute("update points_used set minute = minute - interval '3 minutes', at = at - interval '3 minutes'")
    clock.now += KEPT_SECONDS
    await two[0].exchange.once()
    assert await values(store, "select 1 from points_used") == []


async def test_while_the_database_takes_no_writes_each_goes_on_by_itself_and_tells_all_of_it_later(
    two: list[Process], store: Store
) -> None:
    one, other = two
    await exchanged(one, other)
    own, one.exchange._database = store.database, await Database.open(store.database.url, size=1)
    await one.exchange._database.pool.execute("set default_transaction_read_only = on")
    for _ in range(3):
        assert await one.use(1_000)
        with pytest.raises(ContextQLError):
            await one.exchange.once()
    await one.exchange._database.close()
    one.exchange._database = own
    await one.exchange.once()
    assert await other.use(1)
    await other.exchange.once()
    assert other.left == 6_000 - 4 - 3_000 - 1
    assert one.fair.used == {}


async def test_what_has_come_back_before_the_database_did_is_told_to_nobody(
    two: list[Process], store: Store, clock: Clock
) -> None:
    one, other = two
    await exchanged(one, other)
    own, one.exchange._database = store.database, await Database.open(store.database.url, size=1)
    await one.exchange._database.close()
    for _ in range(30):  # nine minutes in which it uses half of what comes back
        assert await one.use(1_000)
        with pytest.raises(ContextQLError):
            await one.exchange.once()
        clock.now += 20
    one.exchange._database = own
    assert await one.use(1)
    await one.exchange.once()
    assert await other.use(1)
    await other.exchange.once()
    assert other.left == 6_000 - 1


async def test_what_was_heard_is_not_taken_again_when_the_clock_of_the_database_is_set_back(
    two: list[Process], store: Store
) -> None:
    one, other = two
    await exchanged(one, other)
    for _ in range(4):  # as if it had been told in minutes that lie ahead by now
        async with store.database.writing() as connection:
            ahead = (
                "update points_used set minute = minute + interval '9 minutes', at = at + interval '9 minutes' where process = $1"
            )
            await connection.execute(ahead, one.exchange.process)
        assert await one.use(1)
        await one.exchange.once()
    assert await other.use(1)
    await other.exchange.once()
    left = other.left
    for _ in range(3):
        assert await other.use(1)
        await other.exchange.once()
    assert other.left == left - 3


async def test_what_was_used_before_a_process_began_is_not_counted_twice(store: Store, clock: Clock) -> None:
    first = Process(store.database, clock)
    assert await first.use(500)
    await first.exchange.once()
    async with store.database.writing() as connection:
        await connection.execute("update points_used set minute = minute - interval '1 minute'")
    second = Process(store.database, clock)
    assert await second.use(1)
    await second.exchange.once()
    assert second.left == 6_000 - 1
