"""Who asks and what that caller may see, as resolved in one snapshot of the database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from retrieval.errors import NamespaceNotFound
from retrieval.model import Model

ROLES = ("READER", "PERSONAL_DATA", "WRITER", "ADMIN")
WHOLE = frozenset({"WRITER", "ADMIN"})
"""Roles that read restricted entities without a grant."""


@dataclass(frozen=True, slots=True)
class Space:
    """A namespace that the caller may read, with the roles held there."""

    ns: int
    name: str
    title: str | None
    roles: frozenset[str]

    @property
    def is_whole(self) -> bool:
        """True when everything in it may be read."""
        return not self.roles.isdisjoint(WHOLE)

    @property
    def shows_personal_data(self) -> bool:
        """True when texts of it are read as they are stored."""
        return "PERSONAL_DATA" in self.roles


@dataclass(frozen=True, slots=True)
class Access:
    """What binds every read: the first three parameters of each statement, and the epoch they hold for."""

    spaces: tuple[int, ...]
    """In order, as all of these: PostgreSQL sorts a list anew for each look-up that compares with it."""
    acls: tuple[int, ...]
    whole: tuple[int, ...]
    epoch: int
    fragments: tuple[tuple[int, int], ...]
    """About how many fragments are visible in each namespace; it steers plans, never visibility."""

    def narrowed(self, spaces: Iterable[int]) -> Access:
        """The same rights over fewer namespaces."""
        asked = tuple(sorted(spaces))
        if asked == self.spaces:
            return self
        kept = set(self.spaces).intersection(asked)
        return Access(
            spaces=tuple(ns for ns in asked if ns in kept),
            acls=self.acls,
            whole=tuple(ns for ns in self.whole if ns in kept),
            epoch=self.epoch,
            fragments=tuple((ns, count) for ns, count in self.fragments if ns in kept),
        )

    @property
    def fragment_count(self) -> int:
        """About how many fragments are visible."""
        return sum(count for _, count in self.fragments)


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated principal with everything it stands for; holds as long as the rights epoch does."""

    principal_id: int | None
    """None for the administrator that `CB_LOCAL_ADMIN` lets in, 0 for the subject of a signed token that has no row."""
    name: str
    administrator: bool
    stands_for: tuple[int, ...]
    groups: tuple[str, ...]
    spaces: tuple[Space, ...]
    access: Access
    now: datetime
    model: Model | None = None
    """The model of vectors that the base holds."""
    claimed: tuple[str, ...] = ()
    """Groups that a signed token names, as principals are called."""
    service: str | None = None
    """The service that acts for this caller."""
    issuer: str | None = None
    """Who made the signed token by which the caller came itself; None by any other way."""
    request_id: str | None = None
    """The id of the request, for the audit; None on the command line."""
    snapshot: str | None = None
    """What the database held when this was resolved, as PostgreSQL writes it; None for one that was not."""

    def narrowed(self, names: Iterable[str] | None) -> tuple[Space, ...]:
        """The spaces asked for, in their order; None is all. Raises `NamespaceNotFound`."""
        if names is None:
            return self.spaces
        known = {space.name: space for space in self.spaces}
        asked = tuple(dict.fromkeys(names))
        for name in asked:
            if name not in known:
                raise NamespaceNotFound(name)
        return tuple(known[name] for name in asked)
