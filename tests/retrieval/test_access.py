"""About how many fragments a caller sees is summed from counts, each permission set once; what is visible never depends on it."""

from __future__ import annotations

import asyncio

import pytest

from app.sessions import Identity
from retrieval.access import Access
from retrieval.administration.grants import grant, revoke
from retrieval.administration.members import set_members
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.administration.tokens import create_token, token_digest
from retrieval.ingest.deleting import delete_entity
from retrieval.ingest.statistics import refresh_statistics
from retrieval.session import Session
from retrieval.store import Store
from tests.fixtures.writing import ADMIN, DOCS, put, rows

CALLER, TEAM = "caller", "team"


@pytest.fixture
async def token(store: Store) -> str:
    """A caller in a group, and two namespaces with open and restricted documents."""
    await upsert_principals(store.database, ADMIN, [PrincipalInput(CALLER, "USER"), PrincipalInput(TEAM, "GROUP")])
    await set_members(store.database, ADMIN, TEAM, [CALLER])
    for name in (DOCS, "other"):
        ns = (await create_namespace(store.database, ADMIN, name)).ns
        await put(store, "open", "text", name)
        await put(store, "also open", "text", name)
        await put(store, "closed", "text", name, restricted=True)
        await put(store, "more closed", "text", name, restricted=True)
        await refresh_statistics(store.database, ns)
    return (await create_token(store.database, ADMIN, CALLER)).token


async def access(store: Store, token: str | None) -> Access:
    """What a new request finds out."""
    identity = Identity(None, True) if token is None else Identity(token_digest(token), False)
    async with Session(store, identity, deadline=asyncio.get_running_loop().time() + 30) as session:
        return await session.access()


async def counts(store: Store, token: str | None) -> list[int]:
    """The counts of the namespaces that hold anything visible, smallest first."""
    return sorted(count for _, count in (await access(store, token)).fragments)


async def test_open_fragments_count_for_every_reader_of_their_namespace(store: Store, token: str) -> None:
    assert await counts(store, token) == []
    await grant(store.database, ADMIN, TEAM, DOCS)
    assert await counts(store, token) == [2]
    await grant(store.database, ADMIN, CALLER, "other")
    assert await counts(store, token) == [2, 2]


async def test_a_set_that_is_granted_twice_counts_once(store: Store, token: str) -> None:
    await grant(store.database, ADMIN, TEAM, DOCS)
    for principal in (CALLER, TEAM):
        await grant(store.database, ADMIN, principal, DOCS, entity_key="closed")
    found = await access(store, token)
    assert found.fragment_count == 3
    assert len(found.acls) == len(set(found.acls)) == 2
    await revoke(store.database, ADMIN, CALLER, DOCS, entity_key="closed")
    assert await counts(store, token) == [3]
    await revoke(store.database, ADMIN, TEAM, DOCS, entity_key="closed")
    assert await counts(store, token) == [2]


async def test_grants_count_in_namespaces_that_may_be_read_only(store: Store, token: str) -> None:
    await grant(store.database, ADMIN, CALLER, DOCS)
    await grant(store.database, ADMIN, CALLER, "other", entity_key="closed")
    assert await counts(store, token) == [2]


async def test_whoever_reads_a_namespace_whole_is_counted_all_of_it_once(store: Store, token: str) -> None:
    await grant(store.database, ADMIN, CALLER, DOCS, "WRITER")
    await grant(store.database, ADMIN, CALLER, DOCS, entity_key="closed")
    await grant(store.database, ADMIN, CALLER, "other")
    assert await counts(store, token) == [2, 4]
    assert await counts(store, None) == [4, 4]


async def test_the_count_of_all_follows_what_is_stored(store: Store, token: str) -> None:
    (ns,) = await rows(store, "select ns from namespace where name = $1", DOCS)
    await delete_entity(store.database, ADMIN, DOCS, "closed")
    await refresh_statistics(store.database, ns[0])
    assert await counts(store, None) == [3, 4]
    for key in ("open", "also open", "more closed"):
        await delete_entity(store.database, ADMIN, DOCS, key)
    await refresh_statistics(store.database, ns[0])
    assert sum(await counts(store, None)) == 4
