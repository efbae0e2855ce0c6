"""A pack is applied whole or not at all, forward only, and only over what follows it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.database import json_text
from retrieval.domain.applying import Applied, Breaks, apply_pack, check_pack
from retrieval.domain.pack import DomainPack
from retrieval.domain.reading import pack_of
from retrieval.domain.stored import packs_of
from retrieval.errors import Conflict, Forbidden, NamespaceNotFound
from retrieval.store import Store
from tests.fixtures.callers import caller_of
from tests.fixtures.writing import ADMIN, DOCS, put, rows, values

TEAM: dict[str, Any] = {
    "name": "team", "version": "1.0.0", "types": {"person": {}, "ticket": {}},
    "predicates": {
        "assigned_to": {"cardinality": "one", "subjects": ["ticket"], "objects": ["person"]},
        "estimate": {"subjects": ["ticket"], "value": "integer"},
    },
}  # fmt: skip


def pack(**given: Any) -> DomainPack:
    """The pack of a team with what is given."""
    return pack_of(TEAM | given)


@pytest.fixture(autouse=True)
async def ns(store: Store) -> int:
    """The number of the empty namespace `docs`."""
    return (await create_namespace(store.database, ADMIN, DOCS)).ns


async def applied(store: Store, one: DomainPack) -> Applied:
    """Apply a pack."""
    return await apply_pack(store.database, ADMIN, DOCS, one)


async def versions(store: Store) -> list[str]:
    """What holds."""
    return [one.pack.version for one in await packs_of(store.database, ADMIN, DOCS)]


async def thing(store: Store, ns: int, key: str, type_: str, kind: str = "THING") -> int:
    """Store an entity, whatever the packs say; gives its id."""
    await put(store, key, key, type=type_)
    (number,) = await values(store, "update entity set kind = $3 where ns = $1 and key = $2 returning entity_id", ns, key, kind)
    return int(number)


async def fact(store: Store, ns: int, subject: int, predicate: str, object_: int | None = None, value: Any = None) -> None:
    """Store a fact, whatever the packs say."""
    await values(
        store,
        "insert into fact (ns, fact_id, subject_id, predicate, object_id, value, evidence) "
        "values ($1, nextval('fact_id'), $2, $3, $4, $5, 3) returning 1",
        ns, subject, predicate, object_, None if value is None else json_text(value),
    )  # fmt: skip


async def test_a_pack_fills_the_table_of_predicates_and_gives_way_to_its_next_version(store: Store) -> None:
    assert await applied(store, pack()) == Applied("team", "1.0.0", True)
    assert await rows(store, "select name, cardinality from predicate order by 1") == [
        ("assigned_to", "ONE"),
        ("estimate", "MANY"),
    ]
    assert await applied(store, pack()) == Applied("team", "1.0.0", False)
    predicates = {"assigned_to": TEAM["predicates"]["assigned_to"] | {"cardinality": "many"}}
    assert (await applied(store, pack(version="1.10.0", predicates=predicates))).changed
    assert await rows(store, "select name, cardinality from predicate order by 1") == [("assigned_to", "MANY")]
    for version in ("1.0.0", "1.9.9", "0.99.0"):
        with pytest.raises(Conflict, match=r"1\.10\.0 is applied"):
            await applied(store, pack(version=version))
    with pytest.raises(Conflict, match="another content"):
        await applied(store, pack(version="1.10.0"))
    assert await versions(store) == ["1.10.0"]


async def test_values_that_do_not_follow_a_pack_are_named_as_the_caller_may_read_them(store: Store, ns: int) -> None:
    job = await thing(store, ns, "job", "ticket")
    await fact(store, ns, job, "estimate", value=["ann@example.com", {"passportNumber": "4505 678901"}])
    await upsert_principals(store.database, ADMIN, [PrincipalInput("ann", "USER"), PrincipalInput("bob", "USER")])
    for name, role in (("ann", "ADMIN"), ("bob", "ADMIN"), ("bob", "PERSONAL_DATA")):
        await grant(store.database, ADMIN, name, DOCS, role)
    for caller, is_shown in ((await caller_of(store, "ann"), False), (await caller_of(store, "bob"), True), (ADMIN, True)):
        with pytest.raises(Breaks, match="that hold") as raised:
            await check_pack(store.database, caller, DOCS, pack())
        message = str(raised.value)
        assert ("ann@example.com" in message, "678901" in message, "[EMAIL]" in message) == (is_shown, is_shown, not is_shown)


async def test_what_is_stored_and_does_not_follow_a_pack_is_named_and_nothing_changes(store: Store, ns: int) -> None:
    ann, job = await thing(store, ns, "ann", "person"), await thing(store, ns, "job", "ticket")
    await thing(store, ns, "robot", "machine")
    await thing(store, ns, "page", "page", kind="DOCUMENT")
    await fact(store, ns, job, "assigned_to", ann)
    await fact(store, ns, ann, "assigned_to", job)
    await fact(store, ns, job, "owned_by", ann)
    await fact(store, ns, job, "estimate", value=3)
    await fact(store, ns, job, "estimate", value="three")
    await fact(store, ns, job, "estimate", ann)
    await fact(store, ns, ann, "estimate", value=5)
    await fact(store, ns, job, "links_to", ann)
    for attempt in (check_pack, apply_pack):
        with pytest.raises(Breaks) as raised:
            await attempt(store.database, ADMIN, DOCS, pack())
        found = raised.value.found
        assert len(found) == 6, found
        wanted = [
            "'machine'",
            "'owned_by'",
            "'ticket', and this is of type 'person'",
            "estimate holds a value",
            "'person'",
            "three",
        ]
        for words in wanted:
            assert any(words in one for one in found), (words, found)
    assert await versions(store) == []
    assert await values(store, "select name from predicate") == []
    await values(store, "update fact set retracted_at = now() where predicate <> 'links_to'")
    await values(store, "update entity set type = 'ticket' where type = 'machine'")
    assert (await check_pack(store.database, ADMIN, DOCS, pack())).changed
    assert await versions(store) == []
    assert (await applied(store, pack())).changed


async def test_two_packs_stand_side_by_side_unless_they_speak_of_one_predicate(store: Store) -> None:
    await applied(store, pack())
    await applied(store, pack(name="runs", types={"run": {}}, predicates={"took": {"subjects": ["run"], "value": "number"}}))
    assert len(await values(store, "select name from predicate")) == 3
    with pytest.raises(Conflict, match="declared by pack"):
        await applied(store, pack(name="rival"))
    await applied(store, pack(version="2.0.0", predicates={}))
    assert await values(store, "select name from predicate") == ["took"]


async def test_of_many_that_apply_at_once_all_end_and_the_highest_version_stands(store: Store) -> None:
    given = [pack(version=f"1.{number}.0", title=f"number {number}") for number in range(6)]
    results = await asyncio.gather(*(applied(store, one) for one in (*given, *given)), return_exceptions=True)
    assert all(isinstance(one, Applied | Conflict) for one in results), results
    assert await versions(store) == ["1.5.0"]
    assert [one.pack.title for one in await packs_of(store.database, ADMIN, DOCS)] == ["number 5"]


async def test_a_pack_waits_for_what_is_being_written_and_sees_it(store: Store, ns: int) -> None:
    await thing(store, ns, "ann", "person")
    async with store.database.writing() as connection:
        await connection.execute("select from namespace where ns = $1 for key share", ns)
        await connection.execute("update entity set type = 'robot' where ns = $1", ns)
        applying = asyncio.create_task(applied(store, pack()))
        await asyncio.sleep(0.3)
        assert not applying.done()
    with pytest.raises(Breaks, match="robot"):
        await applying


async def test_only_an_admin_of_the_namespace_applies_and_its_readers_look(store: Store) -> None:
    await upsert_principals(store.database, ADMIN, [PrincipalInput(name, "USER") for name in ("ann", "bob")])
    with pytest.raises(NamespaceNotFound):
        await apply_pack(store.database, await caller_of(store, "ann"), DOCS, pack())
    await grant(store.database, ADMIN, "ann", DOCS, "WRITER")
    with pytest.raises(Forbidden):
        await apply_pack(store.database, await caller_of(store, "ann"), DOCS, pack())
    await grant(store.database, ADMIN, "bob", DOCS, "ADMIN")
    assert (await apply_pack(store.database, await caller_of(store, "bob"), DOCS, pack())).changed
    assert len(await packs_of(store.database, await caller_of(store, "ann"), DOCS)) == 1
