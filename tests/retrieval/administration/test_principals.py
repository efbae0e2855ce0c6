"""Principals and the members of groups."""

from __future__ import annotations

import asyncio

import pytest

from retrieval.administration.grants import grant
from retrieval.administration.members import list_members, set_members
from retrieval.administration.principals import (
    Principal,
    PrincipalInput,
    delete_principal,
    list_principals,
    make_administrator,
    upsert_principals,
)
from retrieval.errors import BadInput, Forbidden
from retrieval.outcomes import Outcome
from retrieval.store import Store
from tests.fixtures.callers import caller_of, sees
from tests.fixtures.writing import ADMIN, DOCS, epoch, put

pytestmark = pytest.mark.usefixtures("ns")


async def test_principals_are_made_and_renamed_each_by_itself(store: Store) -> None:
    given = [
        PrincipalInput("eve", "USER", "Ева"), PrincipalInput("ann", "USER"), PrincipalInput("bob", "USER", "Боб"),
        PrincipalInput("everyone", "GROUP"), PrincipalInput("administrator", "USER"), PrincipalInput("ann", "GROUP"),
        PrincipalInput(" ", "USER"), PrincipalInput("x", "ROBOT"), PrincipalInput("a\x00", "USER"),
        PrincipalInput("n" * 501, "USER"),
    ]  # fmt: skip
    results = await upsert_principals(store.database, ADMIN, given)
    assert [(result.outcome.value, result.code) for result in results] == [
        ("CREATED", None), ("UNCHANGED", None), ("UPDATED", None), ("FAILED", "BAD_INPUT"), ("FAILED", "BAD_INPUT"),
        ("FAILED", "CONFLICT"), *[("FAILED", "BAD_INPUT")] * 4,
    ]  # fmt: skip


async def test_one_name_made_by_many_at_once_is_one_principal(store: Store) -> None:
    made = await asyncio.gather(*(upsert_principals(store.database, ADMIN, [PrincipalInput("new", "USER")]) for _ in range(20)))
    assert sorted(results[0].outcome.value for results in made) == ["CREATED"] + ["UNCHANGED"] * 19


async def test_only_administrators_see_and_change_principals(store: Store) -> None:
    await grant(store.database, ADMIN, "ann", DOCS, "ADMIN")
    ann = await caller_of(store, "ann")
    for act in (
        upsert_principals(store.database, ann, [PrincipalInput("x", "USER")]),
        list_principals(store.database, ann),
        delete_principal(store.database, ann, "bob"),
        set_members(store.database, ann, "team", ["ann"]),
        list_members(store.database, ann, "team"),
    ):
        with pytest.raises(Forbidden):
            await act


async def test_an_administrator_holds_every_role_from_the_next_request_on(store: Store) -> None:
    await put(store, "a", "тайна", restricted=True)
    before = await epoch(store)
    assert await make_administrator(store.database, PrincipalInput("ann", "USER")) is Outcome.UPDATED
    assert await epoch(store) == before + 1
    assert await make_administrator(store.database, PrincipalInput("root", "USER")) is Outcome.CREATED
    assert await sees(store, "ann", "a")
    ann = await caller_of(store, "ann")
    assert "ann" in {principal.name for principal in await list_principals(store.database, ann)}
    with pytest.raises(BadInput, match="yourself"):
        await delete_principal(store.database, ann, "ann")
    with pytest.raises(BadInput, match="group"):
        await make_administrator(store.database, PrincipalInput("team", "GROUP"))


async def test_members_are_replaced_as_a_whole(store: Store) -> None:
    database = store.database
    await set_members(database, ADMIN, "team", ["ann", "bob"])
    results = await set_members(database, ADMIN, "team", ["bob", "robot", "bob"])
    assert {(result.key, result.outcome.value) for result in results} == {
        ("bob", "UNCHANGED"),
        ("robot", "CREATED"),
        ("ann", "UPDATED"),
    }
    with pytest.raises(BadInput, match="'nobody'"):
        await set_members(database, ADMIN, "team", ["ann", "nobody"])
    assert await list_members(database, ADMIN, "team") == ("bob", "robot")
    before = await epoch(store)
    await set_members(database, ADMIN, "team", ["bob", "robot"])
    assert await epoch(store) == before


async def test_only_groups_of_ones_own_have_members(store: Store) -> None:
    for group, says in (("ann", "USER"), ("nothing", "no group"), ("everyone", "Every")):
        with pytest.raises(BadInput, match=says):
            await set_members(store.database, ADMIN, group, ["bob"])
        with pytest.raises(BadInput, match=says):
            await list_members(store.database, ADMIN, group)


async def test_cycles_of_groups_and_a_long_chain_do_no_harm(store: Store) -> None:
    database = store.database
    await put(store, "a", "текст")
    names = [f"g{number}" for number in range(100)]
    await upsert_principals(database, ADMIN, [PrincipalInput(name, "GROUP") for name in names])
    for inner, outer in zip(names, names[1:] + names[:1], strict=True):
        await set_members(database, ADMIN, outer, [inner, outer])
    await set_members(database, ADMIN, "g0", ["g99", "ann"])
    await grant(database, ADMIN, "g98", DOCS)
    assert await sees(store, "ann", "a")
    assert not await sees(store, "bob", "a")


async def test_principals_are_listed_with_their_groups(store: Store) -> None:
    await set_members(store.database, ADMIN, "team", ["ann"])
    listed = {principal.name: principal for principal in await list_principals(store.database, ADMIN)}
    assert listed["ann"] == Principal("ann", "USER", None, False, ("team",), False)
    assert set(listed) == {"ann", "bob", "robot", "team", "ops", "everyone"}
    with pytest.raises(BadInput):
        await delete_principal(store.database, ADMIN, "everyone")
    assert not (await delete_principal(store.database, ADMIN, "nobody")).deleted
