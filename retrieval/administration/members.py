"""Sets and lists the members of groups; groups may hold groups, and a cycle among them does no harm."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.access import Caller
from retrieval.administration.names import EVERYONE, check_principal, principals_by_name
from retrieval.administration.rights import bump_rights_epoch, require_administrator
from retrieval.administration.sql import statement
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import note_write
from retrieval.database import Connection, Database
from retrieval.errors import BadInput
from retrieval.outcomes import ItemResult, Outcome
from retrieval.retrying import retried

MEMBERS_TOLD = 100
"""So many of those that came, and of those that left, are named in the audit; all are counted."""


async def set_members(database: Database, caller: Caller, group: str, members: Sequence[str]) -> list[ItemResult]:
    """Give a group exactly these members, all or none; a result each, and one with outcome UPDATED for each that left.

    Raises `Forbidden` for anyone but an administrator, `BadInput` that names unknown principals.
    """

    async def write() -> list[ItemResult]:
        async with database.writing() as connection:
            await require_administrator(connection, caller)
            group_id = await group_of(connection, group)
            wanted = await principals_by_name(connection, members)
            removed = await connection.fetch(statement("remove_members"), group_id, list(wanted.values()))
            added = await connection.fetch(statement("add_members"), group_id, list(wanted.values()))
            new = {row["member_id"] for row in added}
            if removed or added:
                names = {"added": [name for name, id in wanted.items() if id in new], "removed": [row["name"] for row in removed]}
                wrote = {part: len(listed) for part, listed in names.items()}
                told = {"group": check_principal(group)} | {part: listed[:MEMBERS_TOLD] for part, listed in names.items()}
                await note_write(connection, caller, Action.SET_MEMBERS, items=sum(wrote.values()), what=told, outcome=wrote)
                await bump_rights_epoch(connection)
        results = [ItemResult(name, Outcome.CREATED if id in new else Outcome.UNCHANGED) for name, id in wanted.items()]
        return results + [ItemResult(row["name"], Outcome.UPDATED, message="No longer a member.") for row in removed]

    return await retried(write)


async def list_members(database: Database, caller: Caller, group: str) -> tuple[str, ...]:
    """The names of the members of a group, without those of groups inside it; raises `Forbidden`, `BadInput`."""
    async with database.snapshot() as connection:
        await require_administrator(connection, caller)
        rows = await connection.fetch(statement("list_members"), check_principal(group))
    check_has_members(group, rows[0]["kind"] if rows else None)
    return tuple(row["name"] for row in rows if row["name"] is not None)


async def group_of(connection: Connection, group: str) -> int:
    """The id of a group whose members nobody else sets before the transaction ends."""
    row = await connection.fetchrow(statement("lock_principal"), check_principal(group))
    check_has_members(group, None if row is None else row["kind"])
    number: int = row["principal_id"]
    return number


def check_has_members(group: str, kind: str | None) -> None:
    """Refuse what is no group whose members are kept: `kind` is that of the principal with this name, None without one."""
    if kind is None:
        raise BadInput(f"There is no group {group!r}; create it first.")
    if kind != "GROUP":
        raise BadInput(f"The principal {group!r} is a {kind}; only a group has members.")
    if group == EVERYONE:
        raise BadInput("Every authenticated principal is a member of 'everyone'; its members are not listed and cannot be set.")
