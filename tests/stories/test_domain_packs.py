"""A domain pack over HTTP: refused with its mistakes, applied, obeyed, and gone with its namespace."""

from __future__ import annotations

from typing import Any

from tests.fixtures.desk import Desk, with_namespace
from tests.fixtures.writing import DOCS, values

APPLY = """mutation($namespace: String!, $pack: JSON!) {
    applyDomainPack(input: {namespace: $namespace, pack: $pack}) { name version changed } }"""
FACTS = """mutation($facts: [FactInput!]!) {
    assertFacts(input: {namespace: "docs", facts: $facts}) { results { factId outcome conflictsWith code message } } }"""
THINGS = """mutation($entities: [EntityInput!]!) {
    upsertEntities(input: {namespace: "docs", entities: $entities}) { results { key outcome code message } } }"""
PACK: dict[str, Any] = {
    "name": "team", "version": "1.0.0", "types": {"person": {}, "ticket": {}},
    "predicates": {"assigned_to": {"cardinality": "one", "subjects": ["ticket"], "objects": ["person"]}},
}  # fmt: skip


async def refused(desk: Desk, pack: Any) -> str:
    """The message of a pack that is bad input."""
    response = await desk.send(APPLY, namespace=DOCS, pack=pack)
    (error,) = response.json()["errors"]
    assert error["extensions"]["code"] == "BAD_INPUT", error
    return str(error["message"])


async def test_mistakes_of_a_pack_are_all_named(desk: Desk) -> None:
    said = (await refused(desk, PACK | {"version": "one", "typos": {}})).splitlines()
    assert [line.partition(":")[0] for line in said] == ["version", "typos"]
    assert said[1] == "typos: there is no such field, see domain-pack.schema.json"
    assert "a → b → a" in await refused(desk, PACK | {"aliases": {"a": "b", "b": "a"}})
    deep: Any = {}
    for _ in range(30):
        deep = {"types": deep}
    for pack in ([], "team", 7, {"a" * 600_000: 1}, deep, PACK | {"title": "a\x00b"}):
        await refused(desk, pack)
    assert not await values(desk.store, "select name from domain_pack")


async def test_what_a_pack_does_not_declare_is_refused_with_the_nearest_that_it_does(desk: Desk) -> None:
    assert (await desk.ask(APPLY, namespace=DOCS, pack=PACK))["applyDomainPack"] == {
        "name": "team", "version": "1.0.0", "changed": True,
    }  # fmt: skip
    things = [{"key": "ann", "type": "person", "title": "Ann"}, {"key": "bob", "type": "person", "title": "Bob"},
              {"key": "job", "type": "ticket", "title": "Job"}, {"key": "x", "type": "tickt", "title": "X"}]  # fmt: skip
    stored = (await desk.ask(THINGS, entities=things))["upsertEntities"]["results"]
    assert [one["outcome"] for one in stored] == ["CREATED"] * 3 + ["FAILED"]
    assert "did you mean 'ticket'?" in stored[3]["message"]
    said = [("assigned_too", "ann"), ("assigned_to", "ann"), ("assigned_to", "bob")]
    facts = [{"subject": "job", "predicate": predicate, "object": key} for predicate, key in said]
    wrong, first, second = (await desk.ask(FACTS, facts=facts))["assertFacts"]["results"]
    assert (wrong["code"], "did you mean 'assigned_to'?" in wrong["message"]) == ("BAD_INPUT", True)
    assert second["conflictsWith"] == [first["factId"]]
    assert await desk.refusal(APPLY, namespace=DOCS, pack=PACK | {"version": "2.0.0", "predicates": {}}) == "CONFLICT"


async def test_a_pack_holds_in_its_namespace_only_and_goes_with_it(desk: Desk) -> None:
    await with_namespace(desk, "other")
    await desk.ask(APPLY, namespace="other", pack=PACK)
    stored = await desk.ask(THINGS, entities=[{"key": "x", "type": "anything", "title": "X"}])
    assert stored["upsertEntities"]["results"][0]["outcome"] == "CREATED"
    await desk.ask('mutation { deleteNamespace(input: {name: "other", confirm: "other"}) { deleted } }')
    assert await values(desk.store, "select name from domain_pack union all select name from predicate") == []
