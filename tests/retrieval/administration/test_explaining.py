"""Explanations agree with what is seen, and say through whom."""

from __future__ import annotations

import pytest

from retrieval.administration.explaining import explain
from retrieval.administration.grants import grant
from retrieval.administration.members import set_members
from retrieval.administration.principals import PrincipalInput, make_administrator
from retrieval.errors import Forbidden, NamespaceNotFound
from retrieval.store import Store
from tests.fixtures.callers import caller_of, sees
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
