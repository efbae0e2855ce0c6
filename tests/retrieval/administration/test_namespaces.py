"""Namespaces: who may make, see and delete them."""

from __future__ import annotations

import asyncio

import pytest

from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace, delete_namespace, list_namespaces
from retrieval.errors import BadInput, Conflict, Forbidden, NamespaceNotFound
from retrieval.store import Store
from tests.fixtures.callers import caller_of
from tests.fixtures.writing import ADMIN, DOCS, put

pytestmark = pytest.mark.usefixtures("ns")


async def test_only_an_administrator_makes_one_and_a_name_is_taken_once(store: Store) -> None:
    made = await create_namespace(store.database, ADMIN, "tenant:7:ws:2", "Второй")
    assert (made.name, made.title) == ("tenant:7:ws:2", "Второй")
    with pytest.raises(Conflict):
        await create_namespace(store.database, ADMIN, "tenant:7:ws:2")
    await grant(store.database, ADMIN, "ann", DOCS, "ADMIN")
    with pytest.raises(Forbidden):
        await create_namespace(store.database, await caller_of(store, "ann"), "mine")
    for name in ("", " ", "a\x00", "n" * 201, " a"):
        with pytest.raises(BadInput):
            await create_namespace(store.database, ADMIN, name)
    tries = await asyncio.gather(*(create_namespace(store.database, ADMIN, "race") for _ in range(10)), return_exceptions=True)
    assert sorted(type(one).__name__ for one in tries) == ["Conflict"] * 9 + ["Namespace"]


async def test_a_caller_sees_those_it_has_a_role_in(store: Store) -> None:
    await create_namespace(store.database, ADMIN, "closed")
    await grant(store.database, ADMIN, "everyone", DOCS)
    assert [one.name for one in await list_namespaces(store.database, await caller_of(store, "ann"))] == [DOCS]
    assert [one.name for one in await list_namespaces(store.database, ADMIN)] == ["closed", DOCS]


async def test_its_admin_deletes_it_and_one_of_the_same_name_starts_empty(store: Store) -> None:
    await put(store, "a", "текст")
    await grant(store.database, ADMIN, "bob", DOCS, "WRITER")
    with pytest.raises(Forbidden):
        await delete_namespace(store.database, await caller_of(store, "bob"), DOCS, DOCS)
    await grant(store.database, ADMIN, "ann", DOCS, "ADMIN")
    ann = await caller_of(store, "ann")
    assert (await delete_namespace(store.database, ann, DOCS, DOCS)).counts["entities"] == 1
    await create_namespace(store.database, ADMIN, DOCS)
    with pytest.raises(NamespaceNotFound):
        await delete_namespace(store.database, ann, DOCS, DOCS)
