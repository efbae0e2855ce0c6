"""While others ask, the requests of one principal run one after the other; alone they run all at once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from app import turns
from app.turns import Queue, Turns
from tests.fixtures.clock import Clock


@dataclass
class Room:
    """A process with two who ask."""

    clock: Clock = field(default_factory=Clock)
    crowd: Queue = field(default_factory=Queue)
    other: Queue = field(default_factory=Queue)
    began: list[str] = field(default_factory=list)
    tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.turns = Turns(self.clock)

    async def ask(self, queue: Queue, *names: str) -> None:
        """Have each ask for a turn, and wait until nothing moves."""

        async def one(name: str) -> None:
            if await self.turns.take(queue, name):
                self.began.append(name)

        for name in names:
            self.tasks[name] = asyncio.create_task(one(name))
        await settled()

    async def leave(self, queue: Queue, name: str) -> None:
        self.turns.leave(queue, name)
        await settled()


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_alone_all_run_at_once() -> None:
    room = Room()
    await room.ask(room.crowd, *"abcdef")
    assert room.began == list("abcdef")


async def test_beside_another_the_next_waits_until_nobody_runs_and_the_other_waits_for_nobody() -> None:
    room = Room()
    await room.ask(room.other, "other")
    await room.ask(room.crowd, *"abc")
    assert room.began == ["other", "a"]
    await room.leave(room.crowd, "a")
    assert room.began == ["other", "a"]
    await room.leave(room.other, "other")
    assert room.began == ["other", *"ab"]
    await room.ask(room.other, "again")
    assert room.began[3:] == ["again"]
    await room.leave(room.crowd, "b")
    await room.leave(room.other, "again")
    await room.leave(room.other, "again")
    assert room.began[4:] == ["c"]
    await room.leave(room.crowd, "c")
    assert (room.crowd.turns, room.other.turns) == ({}, {})


async def test_others_that_never_stop_do_not_stop_the_next_one() -> None:
    room = Room()
    await room.ask(room.other, "other")
    await room.ask(room.crowd, *"abc")
    for name in "ab":
        await room.leave(room.crowd, name)
        room.clock.now += turns.YIELD_SECONDS
        async with asyncio.timeout(20):
            await room.tasks[chr(ord(name) + 1)]
    assert list(room.other.turns) == ["other"]


async def test_two_crowds_take_turns() -> None:
    room = Room()
    await room.ask(room.other, *"12")
    await room.ask(room.crowd, *"abc")
    await room.ask(room.other, *"345")
    assert room.began == [*"12", "a"]  # the first came while there was nobody else
    for queue, name in ((room.other, "1"), (room.other, "2"), (room.crowd, "a")):
        await room.leave(queue, name)
    for _ in range(4):
        last = room.began[-1]
        await room.leave(room.other if last.isdigit() else room.crowd, last)
    assert room.began[3:] in ([*"b3c45"], [*"3b4c5"])


async def test_once_the_others_have_gone_all_that_wait_are_let_in() -> None:
    room = Room()
    await room.ask(room.other, "other")
    await room.ask(room.crowd, *"abcd")
    room.clock.now += turns.OTHERS_SECONDS
    await room.leave(room.crowd, "a")
    assert room.began == ["other", *"abcd"]


async def test_a_turn_that_takes_long_holds_nobody_up_for_good() -> None:
    room = Room()
    await room.ask(room.other, "other")
    await room.ask(room.crowd, "long", "next")
    assert room.began == ["other", "long"]
    room.clock.now += turns.LONGEST_SECONDS
    async with asyncio.timeout(20):
        await room.tasks["next"]
    await room.leave(room.crowd, "long")
    assert list(room.crowd.turns) == ["next"]


async def test_who_gives_up_waiting_takes_no_turn() -> None:
    room = Room()
    await room.ask(room.other, "other")
    await room.ask(room.crowd, *"abc")
    room.tasks["b"].cancel()
    await settled()
    await room.leave(room.other, "other")
    await room.leave(room.crowd, "a")
    assert room.began == ["other", *"ac"]
    await room.ask(room.crowd, "d", "e")
    room.turns.leave(room.crowd, "c")  # the turn is d's, which gives up before it hears of it
    room.tasks["d"].cancel()
    await settled()
    assert room.began[-1] == "e"
    await room.leave(room.crowd, "e")
    assert (room.crowd.turns, list(room.crowd.waiting)) == ({}, [])


async def test_who_is_sent_away_has_no_turn_and_the_next_begins_as_if_nobody_had_waited() -> None:
    room = Room()
    await room.ask(room.other, "other")
    await room.ask(room.crowd, *"abc")
    room.turns.send_away(room.crowd)
    await settled()
    assert room.tasks["b"].done()
    assert room.tasks["c"].done()
    await room.leave(room.crowd, "a")
    await room.leave(room.other, "other")
    await room.ask(room.crowd, "d")
    assert room.began == ["other", *"ad"]
