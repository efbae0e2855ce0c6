"""Grants and revokes roles in a namespace and reading of restricted entities, and lists who holds what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from retrieval.access import ROLES, Caller
from retrieval.administration.names import check_principal, principals_by_name
from retrieval.administration.rights import bump_rights_epoch, require, require_to_read
from retrieval.administration.sql import statement
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import note_write
from retrieval.database import Connection, Database
from retrieval.errors import BadInput
from retrieval.keys import check_key, key_digest
from retrieval.outcomes import ItemResult, Outcome
from retrieval.retrying import retried
from retrieval.tuning import Tuning


@dataclass(frozen=True, slots=True)
class Grant:
    """A role of a principal in a namespace; with `entity_key`, reading of that one restricted entity."""

    principal: str
    kind: str
    role: str
    entity_key: str | None


Change = Callable[[Connection, int, int], Awaitable[bool]]
"""Changes the rights of a principal inside a transaction (connection, namespace, principal); true when something changed."""


async def grant(
    database: Database, caller: Caller, principal: str, namespace: str, role: str = "READER", entity_key: str | None = None
) -> ItemResult:
    """Give a role in a namespace, or reading of one restricted entity: CREATED, or UNCHANGED when it was held already.

    Needs ADMIN there. Raises `BadInput` for an unknown principal or entity and for an entity that is not restricted: it is
    open to all readers of the namespace, and a grant on it would say otherwise.
    """

    async def change(connection: Connection, ns: int, principal_id: int) -> bool:
        if entity_key is None:
            return await connection.fetchval(statement("grant_role"), ns, principal_id, role) is not None
        acl_id = await permission_set(connection, ns, entity_key)
        if acl_id == 0:
            raise BadInput(f"Entity {entity_key!r} is not restricted: every reader of the namespace sees it. Restrict it first.")
        return await connection.fetchval(statement("grant_entity"), ns, acl_id, principal_id) is not None

    changed = await changed_rights(database, caller, Action.GRANT, principal, namespace, role, entity_key, change)
    return ItemResult(principal, Outcome.CREATED if changed else Outcome.UNCHANGED)


async def revoke(
    database: Database, caller: Caller, principal: str, namespace: str, role: str = "READER", entity_key: str | None = None
) -> ItemResult:
    """Take back what `grant` gave, from the next request on: UPDATED, or UNCHANGED when it was not held. Needs ADMIN there."""

    async def change(connection: Connection, ns: int, principal_id: int) -> bool:
        if entity_key is None:
            return await connection.fetchval(statement("revoke_role"), ns, principal_id, role) is not None
        acl_id = await permission_set(connection, ns, entity_key)
        return await connection.fetchval(statement("revoke_entity"), ns, acl_id, principal_id) is not None

    changed = await changed_rights(database, caller, Action.REVOKE, principal, namespace, role, entity_key, change)
    return ItemResult(principal, Outcome.UPDATED if changed else Outcome.UNCHANGED)


async def list_grants(database: Database, caller: Caller, namespace: str, principal: str | None = None) -> tuple[Grant, ...]:
    """Who holds what in a namespace, of one principal or of all; needs ADMIN there."""
    name = None if principal is None else check_principal(principal)
    async with database.snapshot() as connection:
        ns = await require_to_read(connection, caller, namespace, "ADMIN")
        rows = await connection.fetch(statement("list_grants"), ns, name)
    return tuple(Grant(row["principal"], row["kind"], row["role"], row["entity_key"]) for row in rows)


async def changed_rights(
    database: Database, caller: Caller, action: Action, principal: str, namespace: str, role: str, entity_key: str | None,
    change: Change,
) -> bool:  # fmt: skip
    """Run a change of rights in one transaction that ends with the rights epoch."""
    if role not in ROLES:
        raise BadInput(f"`role` is one of {', '.join(ROLES)}.")
    if entity_key is not None and role != "READER":
        raise BadInput("On one entity only reading can be granted; leave `role` out.")

    async def write() -> bool:
        async with database.writing() as connection:
            ns = await require(connection, caller, namespace, "ADMIN")
            ((name, principal_id),) = (await principals_by_name(connection, [principal])).items()
            changed = await change(connection, ns, principal_id)
            if changed:
                about = [] if entity_key is None else [key_digest(entity_key)]
                await note_write(connection, caller, action, ns, digests=about, what={"principal": name, "role": role})
                await bump_rights_epoch(connection)
            return changed

    return await retried(write)


async def permission_set(connection: Connection, ns: int, key: str) -> int:
    """The permission set of an entity, which nobody else changes before the transaction ends; 0 is open to all readers."""
    acl_id: int | None = await connection.fetchval(statement("lock_acl"), ns, key_digest(check_key(key, Tuning().key_most)))
    if acl_id is None:
        raise BadInput(f"There is no entity {key!r} in this namespace.")
    return acl_id
