"""Nobody sees a row that is not theirs, in any field, count, order, error, header or log line (spec 2)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest
from graphql import GraphQLObjectType, is_introspection_type

from retrieval.administration.principals import PrincipalInput, delete_principal, upsert_principals
from retrieval.administration.rights import local_administrator
from retrieval.database import Database
from retrieval.ingest.statistics import refresh_statistics
from retrieval.store import Store
from tests.contract.asking import documents, text
from tests.contract.checking import leaks, violations
from tests.contract.fields import ELSEWHERE, FIELDS, differences, expected
from tests.contract.oracle import View
from tests.fixtures.bases import Bases
from tests.fixtures.random_world import Principal, World, random_world
from tests.fixtures.world import api, codes, execute, opened, post, served, store_world

SEEDS = range(20)
MANY_SEEDS = range(20, 500)


def some_callers(world: World, seed: int, count: int = 4) -> list[Principal]:
    """Some of those who have a token."""
    return random.Random(seed).sample(world.callers, count)


async def check_world(bases: Bases, seed: int) -> None:
    url, world = bases.new(), random_world(seed)
    await store_world(url, world)
    async with opened(url) as store:
        for caller in some_callers(world, seed):
            assert await violations(store, View(world, caller), seed) == [], caller.name


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_field_holds_exactly_what_the_caller_may_see(bases: Bases, seed: int) -> None:
    await check_world(bases, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", MANY_SEEDS)
async def test_every_field_holds_exactly_what_the_caller_may_see_in_many_worlds(bases: Bases, seed: int) -> None:
    await check_world(bases, seed)


async def remove_unseen(url: str, view: View) -> None:
    """Make the base one in which what the caller may not see never was."""
    world, database = view.world, await Database.open(url, size=1)
    entities = view.entities(view.spaces)
    try:
        async with database.writing() as connection:
            kept = [entity.id for entity in entities]
            facts = [fact.row for fact in view.facts(view.spaces)]
            fragments = [fragment.id for fragment in view.fragments(view.spaces)]
            await connection.execute("delete from embedding_queue where fragment_id <> all($1)", fragments)
            await connection.execute("delete from fact where row_id <> all($1)", facts)
            await connection.execute("delete from fact_place where entity_id <> all($1)", kept)
            await connection.execute("delete from entity where entity_id <> all($1)", kept)
            await connection.execute("delete from namespace where ns <> all($1)", [space.ns for space in view.spaces])
            await connection.execute("delete from edge")
            await connection.execute("select refresh_edges(ns, array_agg(fact_id)) from fact group by ns")
            await connection.execute("delete from acl_grant where acl_id <> all($1)", [entity.acl for entity in entities])
            await connection.execute("delete from principal where principal_id <> all($1)", list(view.stands_for))
            await connection.execute("select bump_rights_epoch()")
        for space in world.namespaces:
            await refresh_statistics(database, space.ns)
    finally:
        await database.close()


@pytest.mark.parametrize("seed", range(5))
async def test_what_may_not_be_seen_changes_no_byte_of_an_answer(bases: Bases, seed: int) -> None:
    url, world = bases.new(), random_world(seed)
    await store_world(url, world)
    for caller in some_callers(world, seed, 2):
        view, lesser = View(world, caller), bases.clone(url)
        await remove_unseen(lesser, view)
        answers = []
        for base in (url, lesser):
            async with opened(base) as store:
                answers.append([await execute(store, document, caller.token) for document in documents(view, seed)])
        assert json.dumps(answers[0]) == json.dumps(answers[1])


async def test_no_forbidden_text_leaves_by_http_headers_logs_or_metrics(bases: Bases, log_text: Callable[[], str]) -> None:
    url, world = bases.new(), random_world(100)
    await store_world(url, world)
    async with opened(url) as store, served(store) as client:
        for caller in world.callers:
            view = View(world, caller)
            closed = [space for space in world.namespaces if space not in view.spaces]
            asked = [
                *documents(view, 1),
                *(f"{{ knowledge(namespaces: {text([space.name])}) {{ isEmpty }} }}" for space in closed),
            ]
            log_text()
            for document in asked:
                response = await post(client, document, caller.token)
                assert response.status_code == 200
                said = response.text + str(response.headers)
                assert leaks(view, document, said) == []
            lines = log_text()
            assert lines.count('"event": "operation"') == len(asked), lines[:500]
            assert [token for token in view.forbidden if token in lines] == []
        metrics = (await client.get("/metrics")).text
        assert [token for token in world.owners if token in metrics] == []


async def test_pages_of_fragments_hold_what_is_visible_and_their_cursors_are_of_one_caller(bases: Bases) -> None:
    url, world = bases.new(), random_world(101)
    await store_world(url, world)
    page = "{{ entity(namespace: {0}, key: {1}) {{ fragments(first: 1{2}) {{ nodes {{ text }} pageInfo {{ endCursor }} }} }} }}"
    walked = 0
    async with opened(url) as store:
        for caller in world.callers:
            view = View(world, caller)
            for entity in view.entities(view.spaces):
                texts, after = [], ""
                while True:
                    document = page.format(text(entity.space.name), text(entity.key), after)
                    answer = await execute(store, document, caller.token)
                    found = answer["data"]["entity"]["fragments"]
                    texts += [node["text"] for node in found["nodes"]]
                    if not found["nodes"]:
                        break
                    after = f", after: {text(found['pageInfo']['endCursor'])}"
                assert texts == [fragment.text for fragment in entity.fragments]
                if texts and not caller.administrator:
                    other = await execute(store, document, world.named("admin").token)
                    assert codes(other) == ["BAD_CURSOR"]
                    walked += 1
    assert walked > 5


# ------------------------------------------------------------------------------------------------ histories


class History:
    """Changes rights at random through the API, and the model with them."""

    def __init__(self, store: Store, world: World, seed: int) -> None:
        self.store, self.world, self.random = store, world, random.Random(seed)

    async def step(self) -> str:
        """Do one change and say which."""
        kinds = [self.role, self.role, self.reading, self.members, self.rebirth]
        return await self.random.choice(kinds)()

    async def mutate(self, field: str, given: str) -> None:
        answer = await execute(self.store, f"mutation {{ {field}(input: {{ {given} }}) {{ results {{ outcome }} }} }}")
        assert "errors" not in answer, answer

    async def role(self) -> str:
        space, one = self.random.choice(self.world.namespaces), self.random.choice(self.world.principals)
        held = (one.id, self.random.choice(("READER", "WRITER", "ADMIN")))
        verb = "revoke" if held in space.roles else "grant"
        space.roles ^= {held}
        await self.mutate(verb, f"principal: {text(one.name)}, namespace: {text(space.name)}, role: {held[1]}")
        return f"{verb} {held} in {space.ns}"

    async def reading(self) -> str:
        entity = self.random.choice([entity for entity in self.world.entities if entity.acl])
        one = self.random.choice(self.world.principals)
        verb = "revoke" if one.id in entity.readers else "grant"
        entity.readers ^= {one.id}
        given = f"principal: {text(one.name)}, namespace: {text(entity.space.name)}, entityKey: {text(entity.key)}"
        await self.mutate(verb, given)
        return f"{verb} {one.id} on {entity.id}"

    async def members(self) -> str:
        group = self.random.choice([one for one in self.world.principals if one.kind == "GROUP" and one.id != 1])
        group.members = self.random.sample([one for one in self.world.principals if one.id != 1], 3)
        await self.mutate("setMembers", f"group: {text(group.name)}, members: {text([one.name for one in group.members])}")
        return f"members of {group.id}"

    async def rebirth(self) -> str:
        group = self.random.choice([one for one in self.world.principals if one.kind == "GROUP" and one.id != 1])
        await delete_principal(self.store.database, local_administrator(), group.name)
        await upsert_principals(self.store.database, local_administrator(), [PrincipalInput(group.name, "GROUP")])
        for space in self.world.namespaces:
            space.roles = {held for held in space.roles if held[0] != group.id}
        for entity in self.world.entities:
            entity.readers -= {group.id}
        for other in self.world.principals:
            other.members = [one for one in other.members if one is not group]
        group.members = []
        return f"{group.id} deleted and made again"


@pytest.mark.parametrize("seed", range(200, 203))
async def test_a_change_of_rights_holds_from_the_next_request_in_every_process(bases: Bases, seed: int) -> None:
    url, world = bases.new(), random_world(seed, entities=6)
    await store_world(url, world)
    async with opened(url) as writer, opened(url) as reader:
        history, callers = History(writer, world, seed), some_callers(world, seed, 3)
        told = []
        for number in range(10):
            for caller in callers:
                view = View(world, caller)
                for document in list(documents(view, number))[: 3 if number else 9]:
                    answer = await execute(self_or(writer, reader, number), document, caller.token)
                    wrong = differences({"data": expected(api()._schema, view, document)}, answer)
                    assert (wrong, leaks(view, document, json.dumps(answer))) == ([], []), told
            told.append(await history.step())


def self_or(writer: Store, reader: Store, number: int) -> Store:
    """Now the process that changed the rights, now the other one."""
    return reader if number % 2 else writer


# ------------------------------------------------------------------------------------------------ completeness


def test_every_field_of_the_schema_is_known_to_the_oracle_or_to_a_test_of_its_own() -> None:
    fields = {
        f"{name}.{field}"
        for name, kind in api()._schema.type_map.items()
        if isinstance(kind, GraphQLObjectType) and not is_introspection_type(kind)
        for field in kind.fields
    }
    known = {f"{kind}.{field}" for kind, listed in FIELDS.items() for field in listed}
    assert fields - known - set(ELSEWHERE) == set(), "say in FIELDS what the new field must hold"
    assert (known | set(ELSEWHERE)) - fields == set()
