"""Keeps or changes who may read one entity: its permission set on all its rows, and the readers of that set."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from retrieval.administration.names import principals_by_name
from retrieval.database import Connection
from retrieval.errors import BadInput
from retrieval.ingest.sql import statement
from retrieval.model import Models


@dataclass(frozen=True, slots=True)
class Stored:
    """What is stored under a key: the digest of its source, None without one, and who may read it."""

    entity_id: int
    acl_id: int
    digest: bytes | None
    readers: frozenset[str]


class GivenRights(Protocol):
    """Whatever is written with rights: None is as left out."""

    @property
    def restricted(self) -> bool | None: ...
    @property
    def readers(self) -> Sequence[str] | None: ...


def rights_hold(stored: Stored, given: GivenRights) -> bool:
    """True when the rights that are given are in force already; those left out always are."""
    restricted = given.restricted is None or given.restricted == (stored.acl_id != 0)
    return restricted and (given.readers is None or frozenset(given.readers) == stored.readers)


async def apply_rights(connection: Connection, ns: int, stored: Stored, given: GivenRights, models: Models) -> tuple[int, bool]:
    """Put the given rights into force; gives the permission set, and whether anybody's rights changed."""
    if rights_hold(stored, given):
        return stored.acl_id, False
    restricted = stored.acl_id != 0 if given.restricted is None else given.restricted
    if given.readers and not restricted:
        raise BadInput("`readers` go with something restricted; set `restricted: true` or leave them out.")
    acl_id = await permission_set(connection, stored.acl_id, restricted)
    if acl_id != stored.acl_id:
        await move(connection, ns, stored.entity_id, acl_id, models)
        await connection.execute(statement("drop_acl"), ns, stored.acl_id)
    if restricted and given.readers is not None:
        await replace_readers(connection, ns, acl_id, given.readers)
    return acl_id, True


async def permission_set(connection: Connection, acl_id: int, restricted: bool) -> int:
    """0 for an open entity; the set it has, or a new one, for a restricted one."""
    if not restricted:
        return 0
    if acl_id:
        return acl_id
    number: int = await connection.fetchval(statement("new_acl"))
    return number


async def move(connection: Connection, ns: int, entity_id: int, acl_id: int, models: Models) -> None:
    """Give all rows of an entity another permission set.

    Fragments come before vectors: a vector that is being written holds its fragment, and is seen by the last statement. Vectors
    of a model that the base is being re-embedded with are brought in line by the switch.
    """
    for table in ("entity", "fragment", "fragment_lexemes", *(("fragment_vector",) if models.current else ())):
        await connection.execute(statement(f"restrict_{table}"), ns, entity_id, acl_id)


async def replace_readers(connection: Connection, ns: int, acl_id: int, readers: Collection[str]) -> None:
    """Give a permission set exactly these readers; raises `BadInput` that names unknown ones."""
    found = await principals_by_name(connection, readers)
    await connection.execute(statement("drop_acl"), ns, acl_id)
    await connection.execute(statement("put_readers"), ns, acl_id, list(found.values()))
