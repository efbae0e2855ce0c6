"""Reads the packs that a namespace has, for those who write into it and those who look at them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

import orjson

from retrieval.access import Caller
from retrieval.administration.rights import require_to_read
from retrieval.database import Connection, Database
from retrieval.domain.pack import DomainPack
from retrieval.domain.rules import Domain
from retrieval.domain.sql import statement


@dataclass(frozen=True, slots=True)
class AppliedPack:
    """A pack as it holds, and since when."""

    pack: DomainPack
    applied_at: datetime


async def packs_of(database: Database, caller: Caller, namespace: str) -> tuple[AppliedPack, ...]:
    """The packs of a namespace by name; needs READER there. Raises `NamespaceNotFound`."""
    async with database.snapshot() as connection:
        ns = await require_to_read(connection, caller, namespace, "READER")
        rows = await connection.fetch(statement("packs"), ns)
    return tuple(AppliedPack(read_body(row["body"]), row["applied_at"]) for row in rows)


async def domain_of(connection: Connection, ns: int) -> Domain:
    """The rules of a namespace, inside a transaction that holds the namespace (`require`): no pack changes before it ends."""
    rows = await connection.fetch(statement("packs"), ns)
    return domain_of_bodies(row["body"] for row in rows)


def domain_of_bodies(bodies: Iterable[str]) -> Domain:
    """The rules in the bodies of packs, as they are stored; they were checked when they were applied.

    Made anew each time, because it counts how often it has looked for the nearest name.
    """
    return Domain(tuple(read_body(body) for body in bodies))


@lru_cache(maxsize=64)
def read_body(body: str) -> DomainPack:
    """A pack in its body."""
    return DomainPack.model_validate(orjson.loads(body))
