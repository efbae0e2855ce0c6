"""Creates, changes, lists and deletes principals: users, groups and services."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.access import Caller
from retrieval.administration.names import EVERYONE, RESERVED, check_principal, check_title
from retrieval.administration.rights import bump_rights_epoch, is_local, local_administrator, require_administrator
from retrieval.administration.sql import statement
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import counted, note_write
from retrieval.database import Connection, Database
from retrieval.errors import BadInput, Conflict, ContextQLError, Forbidden
from retrieval.outcomes import NOTHING_DELETED, Deletion, ItemResult, Outcome
from retrieval.retrying import retried
from retrieval.tracing.storing import drop_traces_of_subject

KINDS = ("USER", "GROUP", "SERVICE")


@dataclass(frozen=True, slots=True)
class PrincipalInput:
    """A principal to create or change; `kind` is USER, GROUP or SERVICE and stays as it was made."""

    name: str
    kind: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Principal:
    """A principal as administrators see it, with the groups it is a member of itself."""

    name: str
    kind: str
    title: str | None
    administrator: bool
    groups: tuple[str, ...]
    acts_for_users: bool


async def upsert_principals(database: Database, caller: Caller, principals: Sequence[PrincipalInput]) -> list[ItemResult]:
    """Create principals or change their titles, each by itself; raises `Forbidden` for anyone but an administrator."""
    async with database.reading() as connection:
        await require_administrator(connection, caller)
    return [await upsert_principal(database, caller, given) for given in principals]


async def upsert_principal(database: Database, caller: Caller, given: PrincipalInput) -> ItemResult:
    """Create or change one principal; what is wrong with it stands in its result."""

    async def write() -> Outcome:
        async with database.writing() as connection:
            await require_administrator(connection, caller)
            outcome = await store(connection, given)
            if outcome is not Outcome.UNCHANGED:
                what = {"principal": check_principal(given.name), "kind": given.kind}
                await note_write(connection, caller, Action.UPSERT_PRINCIPAL, what=what, outcome=counted([outcome]))
            return outcome

    try:
        return ItemResult(given.name, await retried(write))
    except Forbidden:
        raise
    except ContextQLError as error:
        return ItemResult.failed(given.name, error)


async def store(connection: Connection, given: PrincipalInput) -> Outcome:
    """Create or change one principal inside the caller's transaction."""
    name, title = check_principal(given.name), check_title(given.title)
    if name in RESERVED:
        raise BadInput(f"The name {name!r} is reserved; choose another one.")
    if given.kind not in KINDS:
        raise BadInput(f"The kind of a principal is one of {', '.join(KINDS)}.")
    if await connection.fetchval(statement("create_principal"), name, given.kind, title) is not None:
        return Outcome.CREATED
    row = await connection.fetchrow(statement("lock_principal"), name)
    if row is None or row["kind"] != given.kind:
        kind = given.kind if row is None else row["kind"]
        raise Conflict(f"The principal {name!r} is a {kind}; delete it first to make it something else.")
    if title is None or row["title"] == title:
        return Outcome.UNCHANGED
    await connection.execute("update principal set title = $2 where principal_id = $1", row["principal_id"], title)
    return Outcome.UPDATED


async def make_administrator(database: Database, given: PrincipalInput) -> Outcome:
    """Create an administrator of the server, or make a user or service one; only the command line calls this."""
    if given.kind == "GROUP":
        raise BadInput("A group cannot be an administrator; name a user or a service.")

    async def write() -> Outcome:
        async with database.writing() as connection:
            outcome = await store(connection, given)
            raised = await connection.fetchval(statement("raise_administrator"), check_principal(given.name))
            if raised is not None and outcome is Outcome.UNCHANGED:
                outcome = Outcome.UPDATED
            if outcome is not Outcome.UNCHANGED:
                what, wrote = {"principal": check_principal(given.name), "kind": given.kind}, counted([outcome])
                await note_write(connection, local_administrator(), Action.MAKE_ADMINISTRATOR, what=what, outcome=wrote)
            if raised is not None:
                await bump_rights_epoch(connection)
            return outcome

    return await retried(write)


async def list_principals(database: Database, caller: Caller) -> tuple[Principal, ...]:
    """All principals by name; raises `Forbidden` for anyone but an administrator."""
    async with database.reading() as connection:
        await require_administrator(connection, caller)
        rows = await connection.fetch(statement("list_principals"))
    return tuple(
        Principal(row["name"], row["kind"], row["title"], row["administrator"], tuple(row["groups"]), row["acts_for_users"])
        for row in rows
    )


async def delete_principal(database: Database, caller: Caller, name: str) -> Deletion:
    """Delete a principal with its tokens, memberships, grants and traces: one of the same name made later inherits nothing.

    Of a name that only signed tokens have had, the traces.
    """
    if name == EVERYONE:
        raise BadInput("The group 'everyone' cannot be deleted; revoke its grants instead.")

    async def write() -> Deletion:
        async with database.writing() as connection:
            await require_administrator(connection, caller)
            row = await connection.fetchrow(statement("delete_principal"), check_principal(name))
            if row is not None and row["principal_id"] == caller.principal_id and not is_local(caller):
                raise BadInput("You cannot delete yourself.")
            traces = await drop_traces_of_subject(connection, check_principal(name))
            if row is None and not traces:
                return NOTHING_DELETED
            counts = {"traces": traces} if traces else {}
            if row is not None:
                counts |= {kind: row[kind] for kind in ("tokens", "memberships", "grants")} | {"principals": 1}
            await note_write(
                connection, caller, Action.DELETE_PRINCIPAL, what={"principal": check_principal(name)}, outcome=counts
            )
            await bump_rights_epoch(connection)
            return Deletion(True, counts)

    return await retried(write)


async def let_act(database: Database, caller: Caller, name: str, allowed: bool) -> Outcome:
    """Let a service ask for users, or let it no more, from the next request on; raises `Forbidden`, `BadInput`."""

    async def write() -> Outcome:
        async with database.writing() as connection:
            await require_administrator(connection, caller)
            row = await connection.fetchrow(statement("lock_principal"), check_principal(name))
            if row is None:
                raise BadInput(f"There is no principal {name!r}; create it first.")
            if row["kind"] != "SERVICE":
                raise BadInput(f"{name!r} is a {row['kind'].lower()}; only a service acts for users.")
            if await connection.fetchval(statement("let_act"), row["principal_id"], allowed) is None:
                return Outcome.UNCHANGED
            await note_write(connection, caller, Action.LET_ACT, what={"principal": check_principal(name), "allowed": allowed})
            await bump_rights_epoch(connection)
            return Outcome.UPDATED

    return await retried(write)
