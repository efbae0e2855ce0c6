"""Traces of callers with signed tokens: whose they are where no principal stands for the subject, and who else reads them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from retrieval.administration.grants import grant, revoke
from retrieval.administration.members import set_members
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, delete_principal, let_act, upsert_principal
from retrieval.auditing.actions import Action
from retrieval.auditing.listing import Wanted, list_audit
from retrieval.tracing.storing import prune_traces
from tests.fixtures.desk import Desk
from tests.fixtures.issuer import ISSUER, Issuer
from tests.fixtures.world import opened, served
from tests.fixtures.writing import ADMIN, values

OTHER_ISSUER = "https://elsewhere.example.org"
CHIEFS = f"{ISSUER}#chiefs"
SEARCH = 'query($in: [String!]) { search(question: "x", namespaces: $in) { traceId } }'
LOOK = "query($id: ID!) { trace(traceId: $id) { operation } }"


@dataclass
class Place:
    desk: Desk
    issuer: Issuer
    settings: dict[str, Any] = field(default_factory=dict)

    async def made(self, token: str | None, *namespaces: str) -> str:
        """The id of a trace of a search."""
        found: str | None = (await self.desk.ask(SEARCH, token, **{"in": namespaces or ("open",)}))["search"]["traceId"]
        assert found is not None
        return found

    async def reads(self, token: str | None, id: str) -> bool:
        return (await self.desk.ask(LOOK, token, id=id))["trace"] is not None


@pytest.fixture
async def place(base_url: str) -> AsyncIterator[Place]:
    async with Issuer().served() as issuer, opened(base_url) as store:
        database = store.database
        for name in ("open", "inner"):
            await create_namespace(database, ADMIN, name)
        for name, kind in (("ann", "USER"), ("dora", "USER"), (CHIEFS, "GROUP"), ("chiefs", "GROUP"), ("bot", "SERVICE")):
            await upsert_principal(database, ADMIN, PrincipalInput(name, kind))
        await grant(database, ADMIN, "everyone", "open")
        await grant(database, ADMIN, "ann", "inner")
        await let_act(database, ADMIN, "bot", True)
        async with served(store, **issuer.settings()) as client:
            yield Place(Desk(store, client), issuer)


async def test_a_subject_that_has_no_principal_keeps_traces_and_reads_its_own(place: Place) -> None:
    id = await place.made(place.issuer.token("бруно"))
    assert await place.reads(place.issuer.token("бруно"), id), "another token of the same subject"
    for other in ("Бруно", "бруно2", "cleo", "ann", "bot"):
        assert not await place.reads(place.issuer.token(other), id), other
    assert not await place.reads(await place.desk.token("ann"), id)
    assert (await place.desk.send(LOOK, id=id)).status_code == 401, "nobody reads it without a token"
    assert not await place.reads(place.issuer.token("бруно"), await place.made(await place.desk.token("ann")))
    assert await values(place.desk.store, "select principal_id from trace where trace_id = $1", id) == [None]


async def test_the_same_name_of_another_issuer_is_another_subject(place: Place) -> None:
    id = await place.made(place.issuer.token("бруно"))
    async with served(place.desk.store, **place.issuer.settings(jwt_issuer=OTHER_ISSUER)) as client:
        elsewhere = Place(Desk(place.desk.store, client), place.issuer)
        token = place.issuer.token("бруно", iss=OTHER_ISSUER)
        assert not await elsewhere.reads(token, id)
        assert await elsewhere.reads(token, await elsewhere.made(token))
    assert await place.reads(place.issuer.token("бруно"), id)


async def test_a_principal_of_the_name_inherits_nothing_but_the_subject_goes_on_reading(place: Place) -> None:
    database, signed = place.desk.store.database, place.issuer.token("бруно")
    before = await place.made(signed)
    await upsert_principal(database, ADMIN, PrincipalInput("бруно", "USER"))
    opaque = await place.desk.token("бруно")
    after = await place.made(signed)
    assert (await place.reads(signed, before), await place.reads(signed, after)) == (True, True)
    assert (await place.reads(opaque, before), await place.reads(opaque, after)) == (False, True)
    await delete_principal(database, ADMIN, "бруно")
    assert not await place.reads(signed, before), "who is taken out takes what was made before along"
    assert not await place.reads(signed, after)
    assert await values(place.desk.store, "select count(*) from trace") == [0]


async def test_what_a_subject_left_that_never_was_a_principal_is_taken_out_by_its_name(place: Place) -> None:
    database, id, other = place.desk.store.database, *[await place.made(place.issuer.token(name)) for name in ("бруно", "cleo")]
    gone = await delete_principal(database, ADMIN, "бруно")
    assert (gone.deleted, gone.counts) == (True, {"traces": 1})
    assert not (await delete_principal(database, ADMIN, "бруно")).deleted
    assert await place.reads(place.issuer.token("cleo"), other)
    assert not await place.reads(place.issuer.token("бруно"), id)
    noted = await list_audit(database, ADMIN, Wanted(action=Action.DELETE_PRINCIPAL))
    assert [(one.what, one.outcome) for one in noted] == [({"principal": "бруно"}, {"traces": 1})]


async def test_the_audit_tells_a_subject_from_the_principal_that_is_made_of_its_name(place: Place) -> None:
    database, told = place.desk.store.database, []
    await grant(database, ADMIN, "everyone", "open", "WRITER")
    write = """mutation($key: String!) {
        upsertEntities(input: {namespace: "open", entities: [{key: $key, type: "t", title: "T"}]}) { results { code } } }"""
    for key in ("before", "after"):
        await place.desk.ask(write, place.issuer.token("бруно"), key=key)
        (row,) = await list_audit(database, ADMIN, Wanted(namespace="open", key=key))
        told.append((row.principal, row.what))
        await upsert_principal(database, ADMIN, PrincipalInput("бруно", "USER"))
    assert told == [("бруно", {"issuer": ISSUER}), ("бруно", {})]


async def test_a_service_reads_for_a_user_neither_its_own_nor_those_from_before_the_user_was_one(place: Place) -> None:
    database = place.desk.store.database
    await delete_principal(database, ADMIN, "bot")
    ids = [await place.made(place.issuer.token(subject)) for subject in ("bot", "eva")]
    await upsert_principal(database, ADMIN, PrincipalInput("bot", "SERVICE"))
    await upsert_principal(database, ADMIN, PrincipalInput("eva", "USER"))
    await let_act(database, ADMIN, "bot", True)
    assert await place.reads(place.issuer.token("bot"), ids[0])
    headers = {"Authorization": f"Bearer {place.issuer.token('bot')}", "X-On-Behalf-Of": "eva"}
    for id in ids:
        answer = await place.desk.client.post("/graphql", json={"query": LOOK, "variables": {"id": id}}, headers=headers)
        assert answer.json()["data"] == {"trace": None}


async def test_an_id_is_given_only_where_it_leads_somewhere(place: Place) -> None:
    query = '{ search(question: "x") { traceId trace { operation } } }'
    token = place.issuer.token("бруно")
    found = (await place.desk.ask(query, token))["search"]
    assert await place.reads(token, found["traceId"])
    await revoke(place.desk.store.database, ADMIN, "everyone", "open")
    assert (await place.desk.ask(query, token))["search"] == {"traceId": None, "trace": {"operation": "search"}}


async def test_it_goes_with_its_namespace_and_its_days(place: Place) -> None:
    database = place.desk.store.database
    token = place.issuer.token("бруно")
    id = await place.made(token)
    await revoke(database, ADMIN, "everyone", "open")
    assert not await place.reads(token, id)
    await grant(database, ADMIN, "everyone", "open")
    assert await place.reads(token, id)
    async with database.writing() as connection:
        await connection.execute("update trace set created_at = now() - interval '31 days'")
    assert not await place.reads(token, id)
    assert await prune_traces(database, 30) == 1


@pytest.mark.parametrize("subject", ["dora", "cleo"], ids=["a principal", "a subject"])
async def test_whoever_is_administrator_by_a_claimed_group_reads_the_traces_of_others(place: Place, subject: str) -> None:
    database = place.desk.store.database
    narrow = await place.made(await place.desk.token("ann"), "inner")
    wide = await place.made(await place.desk.token("ann"), "inner", "open")
    of_subject = await place.made(place.issuer.token("бруно"))
    chief = place.issuer.token(subject, groups=["chiefs"])
    for name in (CHIEFS, "everyone"):
        await grant(database, ADMIN, name, "inner")
    await grant(database, ADMIN, CHIEFS, "inner", "WRITER")
    assert not await place.reads(chief, narrow)
    await grant(database, ADMIN, CHIEFS, "inner", "ADMIN")
    assert (await place.reads(chief, narrow), await place.reads(chief, wide)) == (True, False), "of all its namespaces"
    assert not await place.reads(place.issuer.token(subject), narrow), "without the group"
    assert not await place.reads(place.issuer.token(subject, groups=["others"]), narrow)
    await grant(database, ADMIN, CHIEFS, "open", "ADMIN")
    assert (await place.reads(chief, wide), await place.reads(chief, of_subject)) == (True, True)
    await revoke(database, ADMIN, CHIEFS, "inner", "ADMIN")
    assert not await place.reads(chief, narrow), "gone with the next request"


async def test_a_claimed_group_leads_on_to_groups_of_groups(place: Place) -> None:
    database = place.desk.store.database
    id = await place.made(await place.desk.token("ann"))
    await grant(database, ADMIN, "chiefs", "open", "ADMIN")
    token = place.issuer.token("cleo", groups=["chiefs"])
    assert not await place.reads(token, id), "`chiefs` is a group of ours, not of the issuer"
    await set_members(database, ADMIN, "chiefs", [CHIEFS])
    assert await place.reads(token, id)
    headers = {"Authorization": f"Bearer {place.issuer.token('bot', groups=['chiefs'])}", "X-On-Behalf-Of": "cleo"}
    await upsert_principal(database, ADMIN, PrincipalInput("cleo", "USER"))
    answer = await place.desk.client.post("/graphql", json={"query": LOOK, "variables": {"id": id}}, headers=headers)
    assert answer.json()["data"] == {"trace": None}, "groups of a service are not those of its user"


async def test_whoever_everyone_makes_an_administrator_is_one_without_a_principal_too(place: Place) -> None:
    id = await place.made(await place.desk.token("ann"))
    assert not await place.reads(place.issuer.token("cleo"), id)
    await grant(place.desk.store.database, ADMIN, "everyone", "open", "ADMIN")
    assert await place.reads(place.issuer.token("cleo"), id)
