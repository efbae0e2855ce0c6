"""Lists the audit for administrators, and takes away what is old in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from retrieval.access import Caller
from retrieval.administration.names import check_name, check_principal
from retrieval.administration.rights import require_administrator
from retrieval.auditing.actions import Action
from retrieval.auditing.sql import statement
from retrieval.database import Database
from retrieval.keys import check_key, key_digest
from retrieval.question import check_instant
from retrieval.tuning import AUDIT_AT_ONCE, AUDIT_KEYS_SHOWN, Tuning


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows; what is None is as left out. `principal` is who wrote or read, or the service that did it for somebody."""

    namespace: str | None = None
    principal: str | None = None
    key: str | None = None
    action: Action | None = None
    since: datetime | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the audit; of its `items` the keys of those that are still there, up to 100."""

    at: datetime
    principal: str
    service: str | None
    action: str
    namespaces: tuple[str, ...]
    keys: tuple[str, ...]
    items: int
    what: Mapping[str, Any]
    outcome: Mapping[str, int]
    request_id: str | None


async def list_audit(database: Database, caller: Caller, wanted: Wanted) -> tuple[Entry, ...]:
    """Rows of the audit, newest first; raises `Forbidden` for anyone but an administrator, and `BadInput`.

    A key finds what was done to the entity that it names, also when that is gone, deleted or erased.
    """
    name = None if wanted.namespace is None else check_name(wanted.namespace, "The name of a namespace")
    principal = None if wanted.principal is None else check_principal(wanted.principal)
    digest = None if wanted.key is None else key_digest(check_key(wanted.key, Tuning().key_most))
    since = None if wanted.since is None else check_instant("since", wanted.since)
    action = None if wanted.action is None else wanted.action.value
    async with database.snapshot() as connection:
        await require_administrator(connection, caller)
        await connection.execute("set local statement_timeout = 0")
        rows = await connection.fetch(
            statement("list_audit"), name, principal, digest, action, since, wanted.limit, AUDIT_KEYS_SHOWN
        )
    return tuple(
        Entry(
            row["at"], row["principal"], row["service"], row["action"], tuple(row["namespaces"]), tuple(row["keys"]),
            row["items"], row["what"], row["outcome"], row["request_id"],
        )
        for row in rows
    )  # fmt: skip


async def prune_audit(database: Database, days: int) -> int:
    """Take away rows that are too old, batch by batch; gives how many. 0 days keep them for ever."""
    gone = 0
    while days:
        async with database.writing() as connection:
            batch = int((await connection.execute(statement("prune_audit"), days, AUDIT_AT_ONCE)).split()[-1])
        gone += batch
        if batch < AUDIT_AT_ONCE:
            break
    return gone
