"""What the mutations about namespaces, principals, grants and tokens do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from resolvers.arguments import Info
from retrieval.administration import grants, members, namespaces, principals, tokens
from retrieval.errors import LimitExceeded
from retrieval.knowledge import NamespaceSummary
from retrieval.outcomes import NOTHING_DELETED, Deletion, ItemResult

ITEMS_MOST = 1_000


@dataclass(frozen=True, slots=True)
class CreatedNamespace:
    """A namespace that was made, as its maker may read it."""

    namespace: NamespaceSummary | None


@dataclass(frozen=True, slots=True)
class Items:
    """What became of each item."""

    results: Sequence[ItemResult]


async def create_namespace(info: Info, name: str, title: str | None) -> CreatedNamespace:
    """Make a namespace."""
    session = info.context
    created = await namespaces.create_namespace(session.store.database, await session.caller, name, title)
    session.touched.add(created.name)
    async with session.again() as fresh:
        (summary,) = (await fresh.knowledge([created.name])).namespaces
        return CreatedNamespace(summary)


async def delete_namespace(info: Info, name: str, confirm: str) -> Deletion:
    """Delete a namespace with everything in it."""
    deletion = await namespaces.delete_namespace(info.context.store.database, await info.context.caller, name, confirm)
    info.context.touched.add(name)
    return deletion


async def upsert_principals(info: Info, given: Sequence[tuple[str, str, str | None]]) -> Items:
    """Make principals or change their titles."""
    check_size(len(given))
    values = [principals.PrincipalInput(name, kind, title) for name, kind, title in given]
    return Items(await principals.upsert_principals(info.context.store.database, await info.context.caller, values))


async def set_members(info: Info, group: str, names: Sequence[str]) -> Items:
    """Give a group exactly these members."""
    return Items(await members.set_members(info.context.store.database, await info.context.caller, group, names))


async def grant(info: Info, principal: str, namespace: str, role: str, key: str | None) -> Items:
    """Give a role, or reading of one entity."""
    caller = await info.context.caller
    result = await grants.grant(info.context.store.database, caller, principal, namespace, role, key)
    info.context.touched.add(namespace)
    return Items([result])


async def revoke(info: Info, principal: str, namespace: str, role: str, key: str | None) -> Items:
    """Take back what was given."""
    caller = await info.context.caller
    result = await grants.revoke(info.context.store.database, caller, principal, namespace, role, key)
    info.context.touched.add(namespace)
    return Items([result])


async def create_token(info: Info, principal: str, expires_at: datetime | None, label: str | None) -> tokens.NewToken:
    """Make a token."""
    return await tokens.create_token(info.context.store.database, await info.context.caller, principal, expires_at, label)


async def revoke_token(info: Info, token_id: str) -> Deletion:
    """Revoke a token by the id that was given out; any other text is no token."""
    if not (token_id.isascii() and token_id.isdigit()):
        return NOTHING_DELETED
    return await tokens.revoke_token(info.context.store.database, await info.context.caller, int(token_id))


def check_size(number: int) -> None:
    """Refuse a list that is too long for one request."""
    if number > ITEMS_MOST:
        raise LimitExceeded(f"{number:,} items are too many for one request; send at most {ITEMS_MOST:,}.")
