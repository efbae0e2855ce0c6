"""Each principal has points that come back with time, and so many requests and streams at once; a refusal costs nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest
from graphql import GraphQLError

from app import fair_use
from app.fair_use import SERVICE_TIMES, FairLimits, FairUse, Place
from retrieval.access import Caller
from retrieval.administration.rights import local_administrator
from retrieval.identity import Identity
from schema.limits import OperationNote
from tests.fixtures.clock import Clock

LIMITS = FairLimits(points=600, requests=3, streams=2, sockets=2)


@dataclass
class Server:
    """A process with its clock, and who comes to it."""

    limits: FairLimits = LIMITS
    clock: Clock = field(default_factory=Clock)
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.fair = FairUse(self.limits, self.told.append, self.clock)

    async def enter(self, name: str = "ann", service: str | None = None, kind: str = "query") -> Place:
        """A place for an operation of that caller, who always has the same token."""
        place = await self.fair.enter(Identity(f"{name} {service}".encode()), OperationNote(kind=kind))
        await place.belongs_to(named(name, service))
        return place

    async def refusal(self, points: int, name: str = "ann", service: str | None = None) -> int | None:
        """The seconds that an operation of so many points has to wait; None when it is let in."""
        try:
            place = await self.enter(name, service)
        except GraphQLError as error:
            return seconds_of(error)
        refused = place.charge(points)
        place.leave()
        return None if refused is None else seconds_of(refused)


def named(name: str, service: str | None = None) -> Caller:
    return replace(local_administrator(), principal_id=7, name=name, service=service)


def seconds_of(error: GraphQLError) -> int:
    assert error.extensions is not None
    assert error.extensions["code"] == "OVERLOADED"
    seconds: int = error.extensions["retryAfter"]
    assert seconds >= 1
    return seconds


@pytest.fixture
def server() -> Server:
    return Server()


async def test_points_come_back_as_the_minute_goes_by(server: Server) -> None:
    assert [await server.refusal(200) for _ in range(3)] == [None, None, None]
    assert await server.refusal(200) == 20  # ten points a second
    server.clock.now += 19.9
    assert await server.refusal(200) is not None
    server.clock.now += 1.2  # refused at once for up to a second, without being looked at
    assert await server.refusal(200) is None
    server.clock.now += 3_600
    assert [await server.refusal(200) for _ in range(4)] == [None, None, None, 20]
    assert server.told == ["points"] * 3


async def test_whoever_waits_as_long_as_it_is_told_is_let_in(server: Server) -> None:
    for points in (600, 1, 37, 599, 250, 600, 12):
        wait = await server.refusal(points)
        while wait is not None:
            server.clock.now += wait
            wait, last = await server.refusal(points), wait
            assert wait is None or wait < last, "told to wait again as long"


async def test_an_operation_of_more_than_a_minute_is_let_in_after_a_rest_and_the_rest_is_owed(server: Server) -> None:
    assert await server.refusal(900) is None
    assert await server.refusal(1) == 31
    server.clock.now += 31
    assert await server.refusal(1) is None


async def test_a_refusal_takes_nothing_and_one_principal_pays_for_no_other(server: Server) -> None:
    assert await server.refusal(550) is None
    assert await server.refusal(500) == 45
    assert await server.refusal(500, "bob") is None
    server.clock.now += 1
    assert await server.refusal(60) is None


async def test_after_a_refusal_the_next_ones_are_refused_before_anything_is_looked_up(server: Server) -> None:
    assert (await server.refusal(600), await server.refusal(300)) == (None, 30)
    with pytest.raises(GraphQLError) as refused:
        await server.fair.enter(Identity(b"ann None"), OperationNote())
    assert seconds_of(refused.value) == 30, "as long as the one that was refused"
    (await server.fair.enter(Identity(b"a token nobody came with"), OperationNote())).leave()
    server.clock.now += fair_use.CLOSED_SECONDS
    (await server.fair.enter(Identity(b"ann None"), OperationNote())).leave()


async def test_whoever_waits_for_a_turn_is_refused_with_the_one_before_it_when_there_are_no_points(server: Server) -> None:
    assert await server.refusal(500) is None
    other, first = await server.enter("bob"), await server.enter()
    waiting = asyncio.create_task(server.enter())
    await asyncio.sleep(0)
    assert not waiting.done()
    assert first.charge(400) is not None
    assert waiting in (await asyncio.wait({waiting}, timeout=60))[0]
    with pytest.raises(GraphQLError) as refused:
        await waiting
    assert seconds_of(refused.value) == 30
    for place in (first, other):
        place.leave()
    assert (server.fair.share("7:ann").requests, server.fair.share("7:ann").queue.turns) == (0, {})


async def test_whoever_would_wait_behind_requests_that_use_up_the_points_is_refused_at_once(server: Server) -> None:
    assert await server.refusal(200) is None
    other, first = await server.enter("bob"), await server.enter()
    waiting = asyncio.create_task(server.enter())
    await asyncio.sleep(0)
    assert first.charge(150) is None  # 250 are left, and one waits that may take as many as this one
    with pytest.raises(GraphQLError) as refused:
        await server.enter()
    assert seconds_of(refused.value) == 5
    first.leave()
    other.leave()
    second = await waiting
    assert second.charge(250) is None
    second.leave()


async def test_a_dear_operation_that_is_refused_or_let_in_keeps_no_cheap_ones_out(server: Server) -> None:
    assert await server.refusal(5) is None
    assert await server.refusal(599) == 1
    assert await server.refusal(5) is None, "there are points enough for it"
    assert await server.refusal(400) is None
    other, first = await server.enter("bob"), await server.enter()
    waiting = [asyncio.create_task(server.enter()) for _ in range(2)]
    await asyncio.sleep(0)
    assert not any(one.done() for one in waiting), "two like the usual ones find their points"
    for place in (first, *[other]):
        assert place.charge(5) is None
        place.leave()
    for one in waiting:
        place = await asyncio.wait_for(one, 60)
        assert place.charge(5) is None
        place.leave()


async def test_dear_operations_without_end_are_refused_at_once_though_cheap_ones_would_be_let_in(server: Server) -> None:
    assert await server.refusal(5) is None
    assert [await server.refusal(599) for _ in range(2)] == [1, 1]
    with pytest.raises(GraphQLError) as refused:
        await server.fair.enter(Identity(b"ann None"), OperationNote())
    assert seconds_of(refused.value) == 1
    server.clock.now += fair_use.CLOSED_SECONDS
    assert await server.refusal(5) is None


async def test_what_is_not_valid_takes_points_too_and_so_cannot_be_sent_without_end(server: Server) -> None:
    for _ in range(600 // fair_use.UNREAD_POINTS + 1):
        (await server.enter()).leave()
    with pytest.raises(GraphQLError) as refused:
        await server.enter()
    assert seconds_of(refused.value) == 3  # 20 points are owed, and one is asked for
    assert await server.refusal(1, "bob") is None
    server.clock.now += 3
    assert await server.refusal(1) is None


async def test_whose_proof_does_not_hold_any_more_takes_from_nobody(server: Server) -> None:
    identity = Identity(b"ann None")
    (await server.enter()).leave()
    server.fair.forget(identity)
    place = await server.fair.enter(identity, OperationNote())
    assert server.fair.share("7:ann").requests == 0
    place.leave()


async def test_a_request_that_waits_for_a_provider_lets_the_next_one_begin(server: Server) -> None:
    other, first = await server.enter("bob"), await server.enter()
    waiting = asyncio.create_task(server.enter())
    await asyncio.sleep(0)
    other.leave()
    assert not waiting.done()
    first.give_way()
    second = await asyncio.wait_for(waiting, 60)
    assert server.fair.share("7:ann").requests == 2, "it is under way all the same"
    for place in (first, second):
        place.leave()
    assert (server.fair.share("7:ann").requests, server.fair.share("7:ann").queue.turns) == (0, {})


async def test_so_many_requests_at_once_and_the_next_when_one_has_ended(server: Server) -> None:
    places = [await server.enter() for _ in range(3)]
    with pytest.raises(GraphQLError) as refused:
        await server.enter()
    assert seconds_of(refused.value) == 1
    assert "3 requests under way" in refused.value.message
    (await server.enter("bob")).leave()
    places[0].leave()
    places[0].leave()
    server.clock.now += 1
    places[0] = await server.enter()
    with pytest.raises(GraphQLError):
        await server.enter()
    for place in places:
        place.leave()
    assert [server.fair.share(one).requests for one in ("7:ann", "7:bob")] == [0, 0]
    assert server.told == ["requests"] * 2


def test_so_many_sockets_are_open_at_once_those_of_a_service_for_a_user_in_both_shares(server: Server) -> None:
    own, for_user = server.fair.hold_socket(named("ann")), server.fair.hold_socket(named("ann", "bot"))
    for service in (None, "bot"):
        with pytest.raises(GraphQLError) as refused:
            server.fair.hold_socket(named("ann", service))
        assert seconds_of(refused.value) == 1
        assert "You have 2 sockets open" in refused.value.message
    others = [server.fair.hold_socket(named(f"u{number}", "bot")) for number in range(2 * SERVICE_TIMES - 1)]
    with pytest.raises(GraphQLError, match="for all its users, 10 sockets open"):
        server.fair.hold_socket(named("bob", "bot"))
    assert not server.fair.share("7:ann").is_at_rest, "it is not forgotten while sockets are open"
    for let_go in (own, for_user, *others):
        let_go()
    assert [server.fair.share(*one).sockets for one in (("7:ann", 1), ("for:bot", SERVICE_TIMES))] == [0, 0]
    assert server.told == ["sockets"] * 3


async def test_a_subscription_is_no_request_any_more_and_there_may_be_so_many(server: Server) -> None:
    streams = [await server.enter(kind="subscription") for _ in range(2)]
    assert [place.charge(1) for place in streams] == [None, None]
    third = await server.enter(kind="subscription")
    refused = third.charge(1)
    assert refused is not None
    assert "2 streams under way" in refused.message
    third.leave()
    for place in [await server.enter() for _ in range(3)]:
        place.leave()
    streams[0].leave()
    assert (await server.enter(kind="subscription")).charge(1) is None
    share = server.fair.share("7:ann")
    assert (share.requests, share.streams, share.queue.turns) == (0, 2, {})
    assert server.told == ["streams"]


async def test_a_service_takes_from_the_user_it_acts_for_and_from_what_it_has_for_all(server: Server) -> None:
    assert await server.refusal(600, "ann", "bot") is None
    assert await server.refusal(1, "ann") is not None, "the user has none left itself"
    assert await server.refusal(600, "bot") is None, "its own share is its own"
    users = [f"user{number}" for number in range(SERVICE_TIMES)]
    assert [await server.refusal(600, user, "bot") for user in users[1:]] == [None] * (SERVICE_TIMES - 1)
    assert await server.refusal(600, users[0], "bot") == 600 * 60 / (600 * SERVICE_TIMES)
    assert await server.refusal(600, users[0]) is None
    places = [await server.enter(f"many{number}", "crowd") for number in range(3 * SERVICE_TIMES)]
    with pytest.raises(GraphQLError, match="The service has, for all its users, 15 requests"):
        await server.enter("one more", "crowd")
    for place in places:
        place.leave()


async def test_a_token_that_is_somebody_elses_by_now_takes_from_whom_it_is(server: Server) -> None:
    identity = Identity(b"a token")
    await (await server.fair.enter(identity, OperationNote())).belongs_to(named("ann"))
    server.clock.now += 1
    place = await server.fair.enter(identity, OperationNote())
    await place.belongs_to(named("bob"))
    assert [server.fair.share(one).requests for one in ("7:ann", "7:bob")] == [1, 1]
    place.leave()
    assert [server.fair.share(one).requests for one in ("7:ann", "7:bob")] == [1, 0]


async def test_without_a_budget_points_are_not_counted() -> None:
    server = Server(FairLimits(points=0, requests=3, streams=2))
    assert [await server.refusal(1_000_000) for _ in range(100)] == [None] * 100


async def test_what_is_remembered_is_bounded() -> None:
    server = Server()
    held = await server.enter("held")
    for number in range(fair_use.REMEMBERED_MOST + 50):
        assert await server.refusal(1, f"user{number}") is None
        server.clock.now += 1
    assert len(server.fair.shares) <= fair_use.REMEMBERED_MOST
    assert server.fair.share("7:held").requests == 1
    held.leave()
