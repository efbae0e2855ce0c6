"""Granting and revoking: roles, single entities, who may do it, and what deleted groups leave."""

from __future__ import annotations

import pytest

from retrieval.administration.grants import Grant, grant, list_grants, revoke
from retrieval.administration.members import set_members
from retrieval.administration.principals import PrincipalInput, delete_principal, upsert_principals
from retrieval.errors import BadInput, Forbidden, NamespaceNotFound
from retrieval.ingest.deleting import delete_entity, delete_source
from retrieval.ingest.source_input import SourceInput
from retrieval.ingest.write import ingest_many
from retrieval.outcomes import Outcome
from retrieval.store import Store
from tests.fixtures.callers import caller_of, sees
from tests.fixtures.writing import ADMIN, DOCS, epoch, put

pytestmark = pytest.mark.usefixtures("ns")


async def test_a_role_is_given_once_and_taken_back_for_the_next_request(store: Store) -> None:
    database = store.database
    await put(store, "a", "текст")
    assert not await sees(store, "ann", "a")
    before = await epoch(store)
    assert (await grant(database, ADMIN, "ann", DOCS)).outcome is Outcome.CREATED
    assert (await grant(database, ADMIN, "ann", DOCS)).outcome is Outcome.UNCHANGED
    assert await sees(store, "ann", "a")
    assert (await revoke(database, ADMIN, "ann", DOCS)).outcome is Outcome.UPDATED
    assert (await revoke(database, ADMIN, "ann", DOCS)).outcome is Outcome.UNCHANGED
    assert not await sees(store, "ann", "a")
    assert await epoch(store) == before + 2, "only changes count"


async def test_a_restricted_entity_opens_to_who_is_granted_it_and_reads_the_namespace(store: Store) -> None:
    database = store.database
    await put(store, "a", "тайна", restricted=True)
    await grant(database, ADMIN, "ann", DOCS)
    assert not await sees(store, "ann", "a")
    await grant(database, ADMIN, "ann", DOCS, entity_key="a")
    await grant(database, ADMIN, "bob", DOCS, entity_key="a")
    assert await sees(store, "ann", "a")
    assert not await sees(store, "bob", "a"), "a grant opens nothing in a closed namespace"
    await grant(database, ADMIN, "robot", DOCS, "WRITER")
    assert await sees(store, "robot", "a"), "whoever writes reads all"
    await revoke(database, ADMIN, "ann", DOCS, entity_key="a")
    assert not await sees(store, "ann", "a")


async def test_a_grant_on_an_entity_that_is_open_or_not_there_is_refused(store: Store) -> None:
    await put(store, "a", "текст")
    with pytest.raises(BadInput, match="not restricted"):
        await grant(store.database, ADMIN, "ann", DOCS, entity_key="a")
    with pytest.raises(BadInput, match="no entity"):
        await grant(store.database, ADMIN, "ann", DOCS, entity_key="b")
    with pytest.raises(BadInput, match="only reading"):
        await grant(store.database, ADMIN, "ann", DOCS, "WRITER", entity_key="a")
    with pytest.raises(BadInput, match="no principal"):
        await grant(store.database, ADMIN, "nobody", DOCS)
    with pytest.raises(BadInput, match="one of"):
        await grant(store.database, ADMIN, "ann", DOCS, "OWNER")


async def test_rights_come_through_groups_of_groups_and_everyone(store: Store) -> None:
    database = store.database
    await put(store, "a", "текст")
    await set_members(database, ADMIN, "team", ["ann"])
    await set_members(database, ADMIN, "ops", ["team"])
    await grant(database, ADMIN, "ops", DOCS)
    assert (await sees(store, "ann", "a"), await sees(store, "bob", "a")) == (True, False)
    await set_members(database, ADMIN, "team", [])
    assert not await sees(store, "ann", "a")
    await grant(database, ADMIN, "everyone", DOCS)
    assert await sees(store, "bob", "a")


async def test_a_group_made_again_under_the_same_name_inherits_nothing(store: Store) -> None:
    database = store.database
    await put(store, "a", "тайна", restricted=True, readers=["team"])
    await set_members(database, ADMIN, "team", ["ann"])
    await grant(database, ADMIN, "team", DOCS)
    assert await sees(store, "ann", "a")
    deletion = await delete_principal(database, ADMIN, "team")
    assert deletion.counts == {"tokens": 0, "memberships": 1, "grants": 2, "principals": 1}
    assert not await sees(store, "ann", "a")
    await upsert_principals(database, ADMIN, [PrincipalInput("team", "GROUP")])
    await set_members(database, ADMIN, "team", ["ann", "bob"])
    assert not await sees(store, "ann", "a")
    assert await list_grants(database, ADMIN, DOCS) == ()


async def test_grants_are_listed_roles_first(store: Store) -> None:
    database = store.database
    await put(store, "a", "тайна", restricted=True, readers=["team"])
    await grant(database, ADMIN, "ann", DOCS, "WRITER")
    await grant(database, ADMIN, "ann", DOCS, entity_key="a")
    assert await list_grants(database, ADMIN, DOCS) == (
        Grant("ann", "USER", "WRITER", None), Grant("ann", "USER", "READER", "a"), Grant("team", "GROUP", "READER", "a"),
    )  # fmt: skip
    assert {one.principal for one in await list_grants(database, ADMIN, DOCS, "team")} == {"team"}


@pytest.mark.parametrize(
    ("role", "may_write", "may_administer"),
    [("READER", False, False), ("PERSONAL_DATA", False, False), ("WRITER", True, False), ("ADMIN", True, True)],
)
async def test_each_role_may_do_what_it_is_for(store: Store, role: str, may_write: bool, may_administer: bool) -> None:
    database = store.database
    await put(store, "a", "текст")
    await grant(database, ADMIN, "ann", DOCS, role)
    ann = await caller_of(store, "ann")

    async def is_allowed(act: object) -> bool:
        try:
            await act  # type: ignore[misc]
        except Forbidden:
            return False
        return True

    assert await is_allowed(ingest_many(database, store.base, ann, DOCS, [SourceInput("b", "текст")])) == may_write
    for act in (
        grant(database, ann, "bob", DOCS),
        revoke(database, ann, "bob", DOCS),
        list_grants(database, ann, DOCS),
        delete_source(database, ann, DOCS, "a"),
        delete_entity(database, ann, DOCS, "a"),
    ):
        assert await is_allowed(act) == may_administer


async def test_without_a_role_the_namespace_does_not_exist(store: Store) -> None:
    ann = await caller_of(store, "ann")
    messages = []
    for name in (DOCS, "nowhere"):
        for act in (
            grant(store.database, ann, "bob", name),
            delete_entity(store.database, ann, name, "a"),
            ingest_many(store.database, store.base, ann, name, [SourceInput("a", "текст")]),
        ):
            with pytest.raises(NamespaceNotFound) as caught:
                await act
            messages.append(caught.value.message.replace(name, "X"))
    assert len(set(messages)) == 1


async def test_a_role_revoked_since_the_caller_was_resolved_does_not_count(store: Store) -> None:
    await grant(store.database, ADMIN, "ann", DOCS, "WRITER")
    ann = await caller_of(store, "ann")
    await revoke(store.database, ADMIN, "ann", DOCS, "WRITER")
    with pytest.raises(NamespaceNotFound):
        await ingest_many(store.database, store.base, ann, DOCS, [SourceInput("a", "текст")])
