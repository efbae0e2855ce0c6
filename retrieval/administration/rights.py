"""Checks the roles of a caller inside the transaction that writes: what was revoked before it does not count."""

from __future__ import annotations

from datetime import UTC, datetime

from retrieval.access import Access, Caller
from retrieval.administration.sql import statement
from retrieval.database import Connection
from retrieval.errors import Forbidden, NamespaceNotFound
from retrieval.text import strict

INCLUDED = {
    "READER": frozenset({"READER", "PERSONAL_DATA", "WRITER", "ADMIN"}),
    "WRITER": frozenset({"WRITER", "ADMIN"}),
    "ADMIN": frozenset({"ADMIN"}),
}
"""The roles that each needed role is part of."""


def local_administrator() -> Caller:
    """The caller of the command line and of `CB_LOCAL_ADMIN`: whoever can read the configuration holds every role."""
    return Caller(None, "administrator", True, (), (), (), Access((), (), (), 0, ()), datetime.now(UTC))


async def require(connection: Connection, caller: Caller, namespace: str, role: str) -> int:
    """The number of a namespace in which the caller holds `role`; the namespace cannot go before the transaction ends.

    Raises `NamespaceNotFound` when the caller may not read it, the same as when it does not exist, and `Forbidden` when it
    may read but not do this. Roles and groups are read anew, whatever `caller` says about them.
    """
    held = await connection.fetchval(statement("hold_namespace"), strict(namespace, "The name of the namespace"))
    number = await require_to_read(connection, caller, namespace, role)  # whether it is there or not: what it costs tells nothing
    if held is None:  # it came meanwhile, and is not held
        raise NamespaceNotFound(namespace)
    return number


async def require_to_read(connection: Connection, caller: Caller, namespace: str, role: str) -> int:
    """As `require`, for what only reads: nothing is held, so that a database that takes no writes answers too."""
    namespace = strict(namespace, "The name of the namespace")
    row = await connection.fetchrow(statement("roles"), namespace, caller.principal_id, is_local(caller), list(caller.claimed))
    if row is None or not (row["administrator"] or row["roles"]):
        raise NamespaceNotFound(namespace)
    if not row["administrator"] and INCLUDED[role].isdisjoint(row["roles"]):
        raise Forbidden(f"This needs the role {role} in namespace {namespace!r}.")
    number: int = row["ns"]
    return number


async def require_administrator(connection: Connection, caller: Caller) -> None:
    """Raises `Forbidden` for anyone but an administrator of the server."""
    if not is_local(caller) and not await connection.fetchval(statement("is_administrator"), caller.principal_id):
        raise Forbidden("This needs the administrator of the server.")


def is_local(caller: Caller) -> bool:
    """True for the administrator that has no row of its own."""
    return caller.principal_id is None and caller.administrator


async def bump_rights_epoch(connection: Connection) -> None:
    """Make every permission set resolved before out of date; the last statement of a transaction that changes rights."""
    await connection.execute("select bump_rights_epoch()")
