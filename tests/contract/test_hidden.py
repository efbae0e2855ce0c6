"""What may not be seen and what is not there get the same answer: same code, message and shape (spec 2)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import httpx
import pytest
from graphql import GraphQLObjectType

from retrieval.administration.grants import revoke
from retrieval.administration.rights import local_administrator
from retrieval.store import Store
from tests.contract.asking import text
from tests.contract.oracle import View, public_id
from tests.fixtures.bases import Bases
from tests.fixtures.company import World
from tests.fixtures.random_world import random_world
from tests.fixtures.world import api, codes, opened, post, served, session_for, store_world

HIDDEN, MISSING = "space:hidden", "space:absent"
HIDDEN_KEY, MISSING_KEY = "docs/secret", "docs/absent"
ASKED_OF_NAMESPACES = {
    "search": '{{ search(question: "x", namespaces: ["{0}"]) {{ question hits {{ score }} }} }}',
    "recall": '{{ recall(question: "x", namespaces: ["{0}"]) {{ count }} }}',
    "knowledge": '{{ knowledge(namespaces: ["{0}"]) {{ isEmpty }} }}',
    "entity": '{{ entity(namespace: "{0}", key: "a") {{ key }} }}',
    "source": '{{ source(namespace: "{0}", key: "a") {{ key }} }}',
    "entities": '{{ entities(namespaces: ["{0}"]) {{ totalCount nodes {{ key }} }} }}',
    "aggregate": '{{ aggregate(metric: FACTS, dimensions: [TYPE], namespaces: ["{0}"]) {{ total }} }}',
    "ingestSources": 'mutation {{ ingestSources(input: {{namespace: "{0}", sources: []}}) {{ results {{ key }} }} }}',
    "applyDomainPack": 'mutation {{ applyDomainPack(input: {{namespace: "{0}", '
    'pack: {{name: "a", version: "1.0.0", types: {{a: {{}}}}}}}}) {{ changed }} }}',
    "upsertEntities": 'mutation {{ upsertEntities(input: {{namespace: "{0}", entities: []}}) {{ results {{ key }} }} }}',
    "recordObservations": 'mutation {{ recordObservations(input: {{namespace: "{0}", observations: []}}) '
    "{{ results {{ key }} }} }}",
    "deleteNamespace": 'mutation {{ deleteNamespace(input: {{name: "{0}", confirm: "{0}"}}) {{ deleted }} }}',
    "deleteSource": 'mutation {{ deleteSource(input: {{namespace: "{0}", key: "a"}}) {{ deleted counts }} }}',
    "deleteEntity": 'mutation {{ deleteEntity(input: {{namespace: "{0}", key: "a"}}) {{ deleted counts }} }}',
    "fact": '{{ fact(namespace: "{0}", factId: "YToxOjE") {{ predicate }} }}',
    "assertFacts": 'mutation {{ assertFacts(input: {{namespace: "{0}", facts: []}}) {{ results {{ factId }} }} }}',
    "retractFacts": 'mutation {{ retractFacts(input: {{namespace: "{0}", factIds: []}}) {{ results {{ factId }} }} }}',
    "grant": 'mutation {{ grant(input: {{principal: "everyone", namespace: "{0}"}}) {{ results {{ key }} }} }}',
    "revoke": 'mutation {{ revoke(input: {{principal: "everyone", namespace: "{0}"}}) {{ results {{ key }} }} }}',
    "createNamespace": 'mutation {{ createNamespace(input: {{name: "{0}"}}) {{ namespace {{ name }} }} }}',
}
ASKED_OF_KEYS = {
    "entity": '{{ entity(namespace: "{1}", key: "{0}") {{ key title }} }}',
    "source": '{{ source(namespace: "{1}", key: "{0}") {{ key content }} }}',
    "search": '{{ search(question: "x", filter: {{keys: ["{0}"]}}) {{ lexical {{ score }} vector {{ score }} }} }}',
    "sql": '{{ search(question: "x", entityFilter: {{keys: ["{0}"]}}) {{ sql {{ score entity {{ key }} }} }} }}',
    "entities of a search": '{{ search(question: "x", entityFilter: {{keys: ["{0}"]}}) '
    "{{ entities {{ score entity {{ key }} }} graph {{ score entity {{ key }} }} }} }}",
    "entities": '{{ entities(filter: {{keys: ["{0}"]}}) {{ totalCount nodes {{ key }} pageInfo {{ endCursor }} }} }}',
    "aggregate": '{{ aggregate(metric: ENTITIES, dimensions: [TYPE, DAY], filter: {{keys: ["{0}"]}}) '
    "{{ total buckets {{ count }} }} }}",
    "deleteSource": 'mutation {{ deleteSource(input: {{namespace: "{1}", key: "{0}"}}) {{ deleted counts }} }}',
    "deleteEntity": 'mutation {{ deleteEntity(input: {{namespace: "{1}", key: "{0}"}}) {{ deleted counts }} }}',
    "deleteEntity that erases": 'mutation {{ deleteEntity(input: {{namespace: "{1}", key: "{0}", erase: true}}) '
    "{{ deleted counts }} }}",
    "grant": 'mutation {{ grant(input: {{principal: "everyone", namespace: "{1}", entityKey: "{0}"}}) {{ results {{ key }} }} }}',
    "revoke": 'mutation {{ revoke(input: {{principal: "everyone", namespace: "{1}", entityKey: "{0}"}}) '
    "{{ results {{ key }} }} }}",
    "facts": '{{ entity(namespace: "{1}", key: "{0}") {{ facts {{ totalCount }} }} '
    'source(namespace: "{1}", key: "{0}") {{ statedFacts {{ totalCount }} }} }}',
    "assertFacts": 'mutation {{ assertFacts(input: {{namespace: "{1}", facts: [{{subject: "{0}", predicate: "p", value: 1}}]}}) '
    "{{ results {{ factId outcome code message }} }} }}",
    "ingestSources": 'mutation {{ ingestSources(input: {{namespace: "{1}", sources: [{{key: "{0}", content: "x"}}]}}) '
    "{{ results {{ key outcome code message }} }} }}",
    "upsertEntities": 'mutation {{ upsertEntities(input: {{namespace: "{1}", entities: [{{key: "{0}", type: "a", title: "a"}}]}})'
    " {{ results {{ key outcome code message }} }} }}",
    "recordObservations": 'mutation {{ recordObservations(input: {{namespace: "{1}", observations: [{{key: "{0}", text: "a",'
    ' observedAt: "2026-01-01T00:00:00Z"}}]}}) {{ results {{ key outcome code message }} }} }}',
}
ASKED_OF_PRINCIPALS = {
    "upsertPrincipals": 'mutation {{ upsertPrincipals(input: {{principals: [{{name: "{0}", kind: USER}}]}}) '
    "{{ results {{ key }} }} }}",
    "setMembers": 'mutation {{ setMembers(input: {{group: "{0}", members: []}}) {{ results {{ key }} }} }}',
    "createToken": 'mutation {{ createToken(input: {{principal: "{0}"}}) {{ token tokenId }} }}',
    "grant": 'mutation {{ grant(input: {{principal: "{0}", namespace: "{1}"}}) {{ results {{ key }} }} }}',
    "revokeToken": 'mutation {{ revokeToken(input: {{tokenId: "{0}"}}) {{ deleted }} }}',
}


@pytest.fixture
async def place(bases: Bases) -> AsyncIterator[tuple[Store, World, httpx.AsyncClient]]:
    """A served world in which user1 reads space 1, which holds a restricted document, and nothing else."""
    url, world = bases.new(), random_world(5)
    one, other, *_ = world.namespaces
    user = world.named("user1")
    for space in world.namespaces:
        space.roles = {(user.id, "READER")} if space is one else {(world.named("service").id, "READER")}
    other.name = HIDDEN
    secret = next(entity for entity in world.entities if entity.space is one and entity.source)
    secret.key, secret.acl, secret.readers = HIDDEN_KEY, 77, {world.named("service").id}
    await store_world(url, world)
    async with opened(url) as store, served(store) as client:
        yield store, world, client


Place = tuple[Store, World, httpx.AsyncClient]


async def told(place: Place, document: str, *names: str) -> tuple[int, str, dict[str, str]]:
    """Status, body and headers of an answer to user1, with the names in it and what differs by chance taken out."""
    _, world, client = place
    response = await post(client, document, world.named("user1").token)
    body = response.text
    for name in names:
        body = body.replace(name, "NAME")
    body = re.sub(r'"locations":\[[^]]*\]', "", body)
    headers = {key: value for key, value in response.headers.items() if key not in ("date", "x-request-id")}
    return response.status_code, body, headers


async def test_a_closed_namespace_answers_as_one_that_is_not_there(place: Place) -> None:
    for field, document in ASKED_OF_NAMESPACES.items():
        hidden = await told(place, document.format(HIDDEN), HIDDEN)
        assert hidden == await told(place, document.format(MISSING), MISSING), field
        assert ("FORBIDDEN" if field == "createNamespace" else "NAMESPACE_NOT_FOUND") in hidden[1], field


async def test_a_hidden_entity_answers_as_one_that_is_not_there(place: Place) -> None:
    space = place[1].namespaces[0].name
    for field, document in ASKED_OF_KEYS.items():
        hidden = await told(place, document.format(HIDDEN_KEY, space), HIDDEN_KEY)
        assert hidden == await told(place, document.format(MISSING_KEY, space), MISSING_KEY), field


async def test_those_who_may_not_administer_learn_nothing_about_principals(place: Place) -> None:
    world = place[1]
    group, space = world.named("group3").name, world.namespaces[0].name
    for field, document in ASKED_OF_PRINCIPALS.items():
        there, missing = ("1", "7") if field == "revokeToken" else (group, "x" * len(group))
        names = () if field == "revokeToken" else (there, missing)  # a digit is no name: costs have digits too
        known = await told(place, document.format(there, space), *names)
        assert known == await told(place, document.format(missing, space), *names), field
        assert "FORBIDDEN" in known[1], field


async def test_the_id_of_something_hidden_answers_as_one_that_was_never_given_out(place: Place) -> None:
    world = place[1]
    secret = next(entity for entity in world.entities if entity.key == HIDDEN_KEY)
    document = "{{ node(id: {0}) {{ __typename id }} nodes(ids: [{0}]) {{ id }} }}"
    for kind, number in (("e", secret.id), ("s", secret.id), ("f", secret.fragments[0].id)):
        hidden, missing = public_id(kind, secret.space, number), public_id(kind, secret.space, number + 9_000_000)
        answer = await told(place, document.format(text(hidden)), hidden)
        assert answer == await told(place, document.format(text(missing)), missing)
        assert '{"node":null,"nodes":[null]}' in answer[1]


def test_every_mutation_is_asked_about_something_hidden() -> None:
    mutation = api()._schema.type_map["Mutation"]
    assert isinstance(mutation, GraphQLObjectType)
    assert set(mutation.fields) <= {*ASKED_OF_NAMESPACES, *ASKED_OF_KEYS, *ASKED_OF_PRINCIPALS}


STATES = {"expired": "expires_at = now() - interval '1 second'", "revoked": "expires_at = null, revoked_at = now()"}


async def test_a_token_that_is_unknown_expired_or_revoked_gets_one_answer(place: Place) -> None:
    store, world, client = place
    token = world.named("user1").token
    unknown = await post(client, "{ viewer { principal } }", "never given out")
    assert codes(unknown.json()) == ["UNAUTHENTICATED"]
    for state, change in STATES.items():
        async with store.database.writing() as connection:
            await connection.execute(f"update token set {change}")  # noqa: S608 - from the table above
        response = await post(client, "{ viewer { principal } }", token)
        assert (response.status_code, response.json()) == (unknown.status_code, unknown.json()), state


async def test_a_subscription_counts_what_is_visible_and_ends_when_the_namespace_is_closed(place: Place) -> None:
    store, world, _ = place
    user, space = world.named("user1"), world.namespaces[0]
    document = f"subscription {{ ingestion(namespace: {text(space.name)}) {{ namespace fragments pendingEmbeddings }} }}"
    async with session_for(store, user.token) as session:
        events = await api().subscribe(document, context_value=session)
        first = await asyncio.wait_for(anext(events), 60)
        seen = View(world, user).fragments([space])
        pending = sum(fragment.pending for fragment in seen)
        assert first.data == {"ingestion": {"namespace": space.name, "fragments": len(seen), "pendingEmbeddings": pending}}
        await revoke(store.database, local_administrator(), user.name, space.name)
        last = await asyncio.wait_for(anext(events), 60)
        assert last.data is None or last.data["ingestion"] is None
        assert "does not exist or is not open to you" in last.errors[0].message
        await events.aclose()
