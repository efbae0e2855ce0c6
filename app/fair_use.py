"""Shares the server among its callers: each has a budget of points a minute, and so many requests, streams, sockets at once."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from time import monotonic

from graphql import GraphQLError

from app.turns import Queue, Turns
from retrieval.access import Caller
from retrieval.identity import Identity
from schema.errors import coded
from schema.limits import OperationNote

SERVICE_TIMES = 5
"""How many shares of one user a service has for all the users that it acts for together."""
CLOSED_SECONDS = 1.0
"""Whoever was refused for want of points is refused at once until there are enough, at most this long."""
UNREAD_POINTS = 20
"""What an operation takes whose points never were known: one that is malformed, invalid or too large is read all the same."""
RISE = 8
"""What a share's operations usually take falls at once to that of a cheaper one, and rises by such a part to a dearer one."""
REMEMBERED_MOST = 10_000
"""Shares in use, and tokens whose principal is remembered; nothing is allowed because of what is remembered."""
FORGOTTEN_AT_ONCE = 10
SOON = 1
"""Seconds after which a place among the requests may be free."""

Who = tuple[tuple[str, int], ...]
"""The names of the shares that a request takes from, each with how many times a user's share it is."""


@dataclass(frozen=True, slots=True)
class FairLimits:
    """The share of one principal in one process."""

    points: int = 10_000
    """Points a minute, and as many at once after a minute of rest; 0: no bound."""
    requests: int = 20
    streams: int = 50
    sockets: int = 50


class Share:
    """What one principal, or one service for its users, has left."""

    def __init__(self, name: str, limits: FairLimits, times: int, now: float) -> None:
        self.name = name
        self.capacity = float(limits.points * times)
        self.most_requests = limits.requests * times
        self.most_streams = limits.streams * times
        self.most_sockets = limits.sockets * times
        self.level = self.capacity
        self.requests = self.streams = self.sockets = 0
        self.usual = 0.0
        """The points that an operation usually takes; the next is taken to be like it as long as it is not known."""
        self.refused = 0
        """The points of the operation that was refused last, and when it was."""
        self.refused_at = -math.inf
        self.closed_until = 0.0
        self.queue = Queue()
        self._at = now

    def refill(self, now: float) -> None:
        """Add what a budget of so many points a minute has grown by."""
        self.level = min(self.capacity, self.level + (now - self._at) * self.capacity / 60)
        self._at = now

    def grew_usual(self, points: int) -> None:
        """Learn from an operation of so many points; a single dear one says little of the next."""
        self.usual += (points - self.usual) / (RISE if 0 < self.usual < points else 1)

    def seconds_until(self, points: float) -> float:
        """How long until an operation of so many points is let in; one of more than a minute's points waits for all of them."""
        return max(0.0, min(points, self.capacity) - self.level) * 60 / self.capacity if self.capacity else 0.0

    def used_elsewhere(self, points: int, now: float) -> None:
        """Take points that were let in by another process; never is more owed than a minute brings."""
        self.refill(now)
        self.level = max(self.level - points, -self.capacity)

    def likely(self) -> float:
        """The points that one takes which is like those before, or like the one that was refused if that is cheaper."""
        return min(self.usual or self.refused, self.refused)

    @property
    def is_at_rest(self) -> bool:
        """Whether forgetting it changes nothing."""
        return not (self.requests or self.streams or self.sockets) and self.level >= self.capacity


class FairUse:
    """The shares of all who ask this process; `told` hears the reason of each refusal."""

    def __init__(
        self, limits: FairLimits, told: Callable[[str], None] = lambda reason: None, clock: Callable[[], float] = monotonic
    ) -> None:
        self.limits = limits
        self.told = told
        self.clock = clock
        self.shares: OrderedDict[str, Share] = OrderedDict()
        self.turns = Turns(clock)
        self._names: OrderedDict[object, Who] = OrderedDict()
        self.used: dict[str, int] | None = None
        """Points by share that other processes were not told of yet; None when nobody tells them."""

    async def enter(self, identity: Identity, note: OperationNote) -> Place:
        """A place for one operation, when it is its turn; raises a refusal at once when there is none.

        It is that of whoever came with the same proof before; `belongs_to` puts it right when that was somebody else.
        """
        key = key_of(identity)
        place = Place(self, key, note)
        known = self._names.get(key)
        if known is not None:
            self._names.move_to_end(key)
            await place.take(known)
        return place

    def hold_socket(self, caller: Caller) -> Callable[[], None]:
        """Count an open socket in the shares of that caller until what is given is called, once; raises a refusal."""
        shares = tuple(self.share(*one) for one in who_pays(caller))
        for share in shares:
            if share.sockets >= share.most_sockets:
                message = f"{whose(share)} {share.most_sockets} sockets open, the most there may be; close one first."
                raise self.refusal("sockets", message, SOON)
        for share in shares:
            share.sockets += 1

        def let_go() -> None:
            for share in shares:
                share.sockets -= 1

        return let_go

    def forget(self, identity: Identity) -> None:
        """Whoever comes with this proof is nobody any more, and takes from nobody."""
        self._names.pop(key_of(identity), None)

    def remember(self, key: object, who: Who) -> None:
        """Whose share a token takes from."""
        self._names[key] = who
        if len(self._names) > REMEMBERED_MOST:
            self._names.popitem(last=False)

    def share(self, name: str, times: int = 1) -> Share:
        """The share of that name, full when it was not in use."""
        share, now = self.shares.get(name), self.clock()
        if share is None:
            if len(self.shares) >= REMEMBERED_MOST:
                self._forget_some(now)
            share = self.shares[name] = Share(name, self.limits, times, now)
        else:
            self.shares.move_to_end(name)
            share.refill(now)
        return share

    def take(self, share: Share, points: int) -> None:
        """Have an operation use points of a share."""
        if share.capacity:
            share.level -= points
            if self.used is not None:
                self.used[share.name] = self.used.get(share.name, 0) + points

    def told_of(self, told: Mapping[str, int]) -> None:
        """Others know of these points."""
        for name, points in told.items():
            assert self.used is not None
            self.used[name] -= points
            if not self.used[name]:
                del self.used[name]

    def _forget_some(self, now: float) -> None:
        """Forget those of the shares used longest ago that are full; the others are looked at again later."""
        for share in list(islice(self.shares.values(), FORGOTTEN_AT_ONCE)):
            share.refill(now)
            if share.is_at_rest:
                del self.shares[share.name]
            else:
                self.shares.move_to_end(share.name)

    def refusal(self, reason: str, message: str, seconds: float) -> GraphQLError:
        """An error that says when to come again."""
        self.told(reason)
        return coded(message, "OVERLOADED", retryAfter=max(SOON, math.ceil(seconds)))


class Place:
    """The place of one operation in the shares that it takes from; leaving twice is harmless."""

    def __init__(self, fair: FairUse, key: object, note: OperationNote) -> None:
        self._fair = fair
        self._key = key
        self._note = note
        self._who: Who | None = None
        self._shares: tuple[Share, ...] = ()
        self._is_stream = False
        self._is_read = True
        """Whether what it takes is settled; not while it is known whose the operation is, but not what it is."""

    async def belongs_to(self, caller: Caller) -> None:
        """Have the place in the shares of that caller; raises a refusal."""
        who = who_pays(caller)
        if who != self._who:
            self.leave()
            self._fair.remember(self._key, who)
            await self.take(who)
        self._is_read = False
        self._note.charge = self.charge

    async def take(self, who: Who) -> None:
        """Be one of the requests of those shares, and wait for a turn of the first; raises a refusal."""
        shares, now = tuple(self._fair.share(*one) for one in who), self._fair.clock()
        for share in shares:
            if share.requests >= share.most_requests:
                raise self._too_many(share, "requests", share.most_requests)
            if now < share.closed_until:
                raise self._too_costly(share, "", share.seconds_until(share.likely()))
            if share.level < 0:
                raise self._too_costly(share, "", share.seconds_until(1))
        if ahead := len(shares[0].queue.waiting):
            # Those who wait will use up the points: better to hear it now than when it is its turn.
            wait = shares[0].seconds_until(shares[0].usual * (ahead + 1))
            if wait > 0:
                raise self._too_costly(shares[0], "", wait)
        for share in shares:
            share.requests += 1
        self._who, self._shares = who, shares
        try:
            has_turn = await self._fair.turns.take(shares[0].queue, self)
        except asyncio.CancelledError:
            self.leave()
            raise
        if not has_turn:
            self.leave()
            raise self._too_costly(shares[0], "", shares[0].seconds_until(shares[0].likely()))

    def charge(self, points: int) -> GraphQLError | None:
        """Take the points of the operation from each share; or a refusal, and then nothing is taken."""
        self._is_read = True
        if self._note.kind == "subscription" and (refusal := self._becomes_stream()) is not None:
            return refusal
        now = self._fair.clock()
        for share in self._shares:
            share.refill(now)
            wait = share.seconds_until(points)
            if wait > 0:
                self._close(share, points, now)
                return self._too_costly(share, f"; this operation takes {points:,}", wait)
        for share in self._shares:
            self._fair.take(share, points)
            share.grew_usual(points)
        return None

    def give_way(self) -> None:
        """Let the next one of the principal begin: this one waits for somebody else, and takes nothing from others meanwhile."""
        if self._shares:
            self._fair.turns.leave(self._shares[0].queue, self)

    def leave(self) -> None:
        """Give the place back."""
        self.give_way()
        shares, self._shares = self._shares, ()
        for share in shares:
            if not self._is_read:
                self._fair.take(share, UNREAD_POINTS)
            if self._is_stream:
                share.streams -= 1
            else:
                share.requests -= 1
        self._is_stream = False

    def _close(self, share: Share, points: int, now: float) -> None:
        """Look at no other operation until there are points for a usual one; a dear one keeps no cheap ones out, but many do."""
        is_first = now - share.refused_at >= CLOSED_SECONDS
        share.refused, share.refused_at = points, now
        if (wait := share.seconds_until(share.likely() if is_first else points)) > 0:
            share.closed_until = now + min(wait, CLOSED_SECONDS)
            self._fair.turns.send_away(share.queue)

    def _becomes_stream(self) -> GraphQLError | None:
        """A subscription lives as long as its client wants, and is counted among those."""
        for share in self._shares:
            if share.streams >= share.most_streams:
                return self._too_many(share, "streams", share.most_streams)
        for share in self._shares:
            share.requests -= 1
            share.streams += 1
        self._is_stream = True
        self.give_way()
        return None

    def _too_many(self, share: Share, what: str, most: int) -> GraphQLError:
        message = f"{whose(share)} {most} {what} under way, the most there may be; send this one again when one has ended."
        return self._fair.refusal(what, message, SOON)

    def _too_costly(self, share: Share, what: str, wait: float) -> GraphQLError:
        seconds = max(SOON, math.ceil(wait))
        message = (
            f"{whose(share)} used up the {share.capacity:,.0f} points of a minute{what}. "
            f"Send it again in {seconds} s, or ask for less: fewer requests, smaller `first`, `k` or `limit`."
        )
        return self._fair.refusal("points", message, wait)


def key_of(identity: Identity) -> object:
    """What tells one proof of who asks from another."""
    return identity.token_digest, identity.subject, identity.is_local_administrator, identity.acts_for


def who_pays(caller: Caller) -> Who:
    """The caller's own share, and when a service acts for it, also that of the service for all its users."""
    own = (f"{caller.principal_id}:{caller.name}", 1)
    return (own,) if caller.service is None else (own, (f"for:{caller.service}", SERVICE_TIMES))


@lru_cache(maxsize=REMEMBERED_MOST)
def digest_of(name: str) -> bytes:
    """What a share is called outside of the process, where nobody need know whose it is."""
    return hashlib.blake2b(name.encode(), digest_size=16).digest()


def whose(share: Share) -> str:
    """Who a refusal speaks of."""
    return "The service has, for all its users," if share.name.startswith("for:") else "You have"
