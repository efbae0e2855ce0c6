"""Explanations agree with what is seen, and say through whom."""

from __future__ import annotations

import pytest

from retrieval.administration.explaining import explain
from retrieval.administration.grants import grant
from retrieval.administration.members import set_members
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, make_administrator, upsert_principals
from retrieval.administration.tokens import create_token
from retrieval.errors import BadInput, Forbidden, NamespaceNotFound
from retrieval.store import Store
from tests.fixtures.callers import caller_of, sees, session_of
from tests.fixtures.writing import ADMIN, DOCS, put

pytestmark = pytest.mark.usefixtures("ns")


async def check(store: Store, principal: str, key: str, *says: str) -> None:
    """The explanation holds the given words in its sentences, and says what is really seen."""
    explanation = await explain(store.database, ADMIN, principal, DOCS, key)
    for words in says:
        assert any(words in sentence for sentence in explanation.sentences), explanation
    assert explanation.visible == await sees(store, principal, key)


async def test_each_reason_is_told_with_the_way_through_groups(store: Store) -> None:
    database = store.database
    await put(store, "open", "текст")
    await put(store, "secret", "тайна", restricted=True, readers=["ops"])
    await check(store, "ann", "open", "ann holds no role in docs")
    await set_members(database, ADMIN, "team", ["ann", "ops"])
    await set_members(database, ADMIN, "ops", ["team"])
    await grant(database, ADMIN, "team", DOCS)
    await check(store, "ann", "open", "READER in docs as a member of team (ann → team)", "not restricted")
    await check(store, "ann", "secret", "holds a grant on it as a member of ops (ann → team → ops)")
    await grant(database, ADMIN, "bob", DOCS)
    await check(store, "bob", "secret", "READER in docs by itself", "holds no grant on it")
    await check(store, "bob", "nothing", "There is no entity 'nothing'")
    await grant(database, ADMIN, "robot", DOCS, "WRITER")
    await check(store, "robot", "secret", "without a grant")
    await grant(database, ADMIN, "everyone", DOCS, "PERSONAL_DATA")
    await check(store, "robot", "open", "PERSONAL_DATA in docs as a member of everyone (robot → everyone)")
    await make_administrator(database, PrincipalInput("root", "USER"))
    await check(store, "root", "secret", "administrator of the server")


async def test_a_namespace_alone_can_be_explained(store: Store) -> None:
    assert not (await explain(store.database, ADMIN, "ann", DOCS)).visible
    await grant(store.database, ADMIN, "ann", DOCS)
    assert (await explain(store.database, ADMIN, "ann", DOCS)).visible
    assert not (await explain(store.database, ADMIN, "nobody", DOCS)).visible


async def test_only_its_admin_may_ask(store: Store) -> None:
    with pytest.raises(NamespaceNotFound):
        await explain(store.database, await caller_of(store, "ann"), "bob", DOCS)
    await grant(store.database, ADMIN, "ann", DOCS, "WRITER")
    with pytest.raises(Forbidden):
        await explain(store.database, await caller_of(store, "ann"), "bob", DOCS)


async def test_a_grant_in_a_closed_namespace_is_said_to_open_nothing(store: Store) -> None:
    await put(store, "secret", "тайна", restricted=True, readers=["ann", "team"])
    await check(store, "ann", "secret", "holds no role in docs", "a grant on 'secret', which opens nothing without a role")
    await check(store, "bob", "secret", "holds no role in docs")
    assert len((await explain(store.database, ADMIN, "bob", DOCS, "secret")).sentences) == 1


async def test_whether_personal_data_are_masked_is_said_as_it_is(store: Store) -> None:
    await put(store, "open", "Write to ann@example.org.")
    await grant(store.database, ADMIN, "ann", DOCS, "ADMIN")
    await set_members(store.database, ADMIN, "team", ["bob"])
    for role in ("READER", "PERSONAL_DATA"):
        await grant(store.database, ADMIN, "team", DOCS, role)
    await make_administrator(store.database, PrincipalInput("root", "USER"))
    for principal, shown in (("ann", False), ("bob", True), ("team", True), ("root", True)):
        found = await explain(store.database, ADMIN, principal, DOCS, "open")
        assert (found.visible, found.masked) == (True, not shown)
        assert found.sentences[-1].startswith(f"Personal data in it are {'shown' if shown else 'masked'}: {principal} ")
        if principal != "team":
            async with session_of(store, (await create_token(store.database, ADMIN, principal)).token) as session:
                (space,) = (await session.caller).spaces
                assert session.reader([space]).shows(space.ns) == shown
    assert (await explain(store.database, ADMIN, "robot", DOCS, "open")).masked is None


async def test_groups_that_tokens_name_and_names_without_a_principal_are_told_apart(store: Store) -> None:
    claimed = "https://login.example.org#staff"
    await put(store, "open", "текст")
    await upsert_principals(store.database, ADMIN, [PrincipalInput(claimed, "GROUP")])
    await grant(store.database, ADMIN, claimed, DOCS)
    found = await explain(store.database, ADMIN, claimed, DOCS, "open")
    assert found.visible
    assert found.sentences[0] == f"{claimed} is a group: this holds for all its members."
    await grant(store.database, ADMIN, "everyone", DOCS)
    assert (await explain(store.database, ADMIN, "everyone", DOCS, "open")).visible
    nobody = await explain(store.database, ADMIN, "nobody", DOCS, "open")
    assert not nobody.visible
    assert "There is no principal 'nobody'" in nobody.sentences[0]
    assert "it stands for everyone and the groups of the token" in nobody.sentences[1]
    local = await explain(store.database, ADMIN, "administrator", DOCS, "open")
    assert (local.visible, local.masked) == (True, False)


async def test_without_a_namespace_it_is_the_one_that_has_the_key(store: Store) -> None:
    await create_namespace(store.database, ADMIN, "other")
    await put(store, "only", "текст", namespace="other")
    for namespace in (DOCS, "other"):
        await put(store, "both", "текст", namespace=namespace)
    await grant(store.database, ADMIN, "ann", "other")
    found = await explain(store.database, ADMIN, "ann", None, "only")
    assert found == await explain(store.database, ADMIN, "ann", "other", "only")
    assert found.visible
    with pytest.raises(BadInput, match="an entity 'both': docs, other"):
        await explain(store.database, ADMIN, "ann", None, "both")
    with pytest.raises(BadInput, match="Name a namespace"):
        await explain(store.database, ADMIN, "ann", None)
    assert (await explain(store.database, ADMIN, "ann", None, "none")).sentences == (
        "There is no entity 'none' in any namespace.",
    )
    await grant(store.database, ADMIN, "bob", "other", "ADMIN")
    with pytest.raises(Forbidden):
        await explain(store.database, await caller_of(store, "bob"), "ann", None, "only")
