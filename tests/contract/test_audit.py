"""Every mutation leaves a row in the audit; tests/app/cli/test_audit.py says the same of every command."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.auditing.actions import Action
from retrieval.auditing.listing import Entry, Wanted, list_audit
from retrieval.store import Store
from schema.api import make_schema
from tests.fixtures.bases import Bases
from tests.fixtures.desk import Desk, desk_at, with_namespace
from tests.fixtures.writing import ADMIN, values

BOTH = 'input: {namespace: "docs", key: '
MUTATIONS: Mapping[str, tuple[Action, str]] = {
    "createNamespace": (Action.CREATE_NAMESPACE, '(input: {name: "more"}) { namespace { name } }'),
    "upsertPrincipals": (Action.UPSERT_PRINCIPAL, '(input: {principals: [{name: "ann", kind: USER}]}) { results { code } }'),
    "setMembers": (Action.SET_MEMBERS, '(input: {group: "team", members: ["ann"]}) { results { code } }'),
    "ingestSources": (
        Action.INGEST_SOURCES,
        '(input: {namespace: "docs", sources: [{key: "a", content: "x"}]}) { results { code } }',
    ),
    "upsertEntities": (
        Action.UPSERT_ENTITIES,
        '(input: {namespace: "docs", entities: [{key: "e", type: "t", title: "E"}]}) { results { code } }',
    ),
    "recordObservations": (
        Action.RECORD_OBSERVATIONS,
        '(input: {namespace: "docs", observations: [{text: "x", observedAt: "2026-01-01T00:00:00Z"}]}) { results { code } }',
    ),
    "assertFacts": (
        Action.ASSERT_FACTS,
        '(input: {namespace: "docs", facts: [{subject: "e", predicate: "p", object: "a"}]}) { results { factId code } }',
    ),
    "retractFacts": (Action.RETRACT_FACTS, '(input: {namespace: "docs", factIds: ["FACT"]}) { results { code } }'),
    "applyDomainPack": (
        Action.APPLY_DOMAIN_PACK,
        '(input: {namespace: "more", pack: {name: "team", version: "1.0.0", types: {t: {}}}}) { changed }',
    ),
    "grant": (Action.GRANT, '(input: {namespace: "docs", principal: "ann"}) { results { code } }'),
    "revoke": (Action.REVOKE, '(input: {namespace: "docs", principal: "ann"}) { results { code } }'),
    "createToken": (Action.CREATE_TOKEN, '(input: {principal: "ann"}) { tokenId }'),
    "revokeToken": (Action.REVOKE_TOKEN, '(input: {tokenId: "1"}) { deleted }'),
    "deleteSource": (Action.DELETE_SOURCE, f'({BOTH}"a"}}) {{ deleted }}'),
    "deleteEntity": (Action.DELETE_ENTITY, f'({BOTH}"e"}}) {{ deleted }}'),
    "deleteEntity erase": (Action.ERASE_ENTITY, f'({BOTH}"a", erase: true}}) {{ deleted }}'),
    "deleteNamespace": (Action.DELETE_NAMESPACE, '(input: {name: "docs", confirm: "docs"}) { deleted }'),
}
"""Every mutation in an order in which each finds something to do, and what it is called in the audit."""


@pytest.fixture
async def desk(bases: Bases) -> AsyncIterator[Desk]:
    """A served base with a namespace and a group."""
    async with desk_at(bases.new()) as desk:
        await upsert_principals(desk.store.database, ADMIN, [PrincipalInput("team", "GROUP")])
        yield await with_namespace(desk)


async def listed(store: Store, **wanted: Any) -> list[Entry]:
    """The audit, newest first."""
    return list(await list_audit(store.database, ADMIN, Wanted(**wanted)))


async def count(store: Store) -> int:
    return int((await values(store, "select count(*) from audit"))[0])


# ------------------------------------------------------------------------------------------------ every write


async def test_every_mutation_leaves_a_row_and_a_second_time_none_where_nothing_changes(desk: Desk) -> None:
    mutation = make_schema()._schema.mutation_type
    assert mutation is not None
    assert {name.split()[0] for name in MUTATIONS} == set(mutation.fields), "give a new mutation its place in MUTATIONS"
    fact = ""
    for name, (action, rest) in MUTATIONS.items():
        document = f"mutation {{ {name.split()[0]}{rest.replace('FACT', fact)} }}"
        before = await count(desk.store)
        response = await desk.client.post("/graphql", json={"query": document}, headers={"X-Request-Id": f"id-{name.split()[0]}"})
        answer = response.json()
        assert "errors" not in answer, answer
        results = answer["data"][name.split()[0]].get("results") or []
        assert all(one.get("code") is None for one in results), answer
        fact = results[0]["factId"] if name == "assertFacts" else fact
        (latest, *_) = await listed(desk.store)
        assert (await count(desk.store), latest.action) == (before + 1, action), name
        assert (latest.principal, latest.service, latest.request_id) == ("administrator", None, f"id-{name.split()[0]}")
    quiet = ("upsertPrincipals", "setMembers", "revokeToken")
    before = await count(desk.store)
    for name in quiet:
        await desk.ask(f"mutation {{ {name}{MUTATIONS[name][1]} }}")
    assert await count(desk.store) == before, "what changes nothing leaves nothing"
