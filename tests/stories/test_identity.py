"""Callers with signed tokens, over HTTP: what they see is what their principal and the groups of the token may see."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

from retrieval.administration.grants import grant, revoke
from retrieval.administration.members import set_members
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, delete_principal, upsert_principal
from retrieval.administration.tokens import create_token
from retrieval.errors import Unauthenticated
from retrieval.identity import Identity
from retrieval.session import Session
from tests.fixtures.desk import Desk
from tests.fixtures.issuer import ISSUER, Issuer
from tests.fixtures.world import opened, served
from tests.fixtures.writing import ADMIN

STAFF = f"{ISSUER}#staff"
WHO = "{ viewer { principal actingFor groups namespaces { name roles } } }"
WRITE = """mutation($namespace: String!) { ingestSources(input: {namespace: $namespace, sources: [{key: "k", content: "x"}]}) {
    results { outcome code } } }"""


@dataclass
class Place:
    desk: Desk
    issuer: Issuer

    async def viewer(self, token: str) -> Any:
        return (await self.desk.ask(WHO, token))["viewer"]

    async def open_to(self, token: str) -> dict[str, list[str]]:
        return {space["name"]: space["roles"] for space in (await self.viewer(token))["namespaces"]}


@pytest.fixture
async def place(base_url: str) -> AsyncIterator[Place]:
    async with Issuer().served() as issuer, opened(base_url) as store:
        for name in ("open", "inner", "own"):
            await create_namespace(store.database, ADMIN, name)
        for name, kind in (("ann", "USER"), (STAFF, "GROUP"), ("team", "GROUP"), ("staff", "GROUP")):
            await upsert_principal(store.database, ADMIN, PrincipalInput(name, kind))
        await set_members(store.database, ADMIN, "team", [STAFF])
        for principal, namespace in (("everyone", "open"), ("team", "inner"), ("ann", "own")):
            await grant(store.database, ADMIN, principal, namespace)
        async with served(store, local_admin=True, **issuer.settings()) as client:
            yield Place(Desk(store, client), issuer)


async def test_groups_hold_as_long_as_the_token_and_lead_on_to_groups_of_groups(place: Place) -> None:
    with_group = await place.viewer(place.issuer.token("ann", groups=["staff", "unheard-of"]))
    assert with_group["groups"] == sorted(["everyone", STAFF, "team"])
    assert {space["name"] for space in with_group["namespaces"]} == {"open", "inner", "own"}
    without = await place.viewer(place.issuer.token("ann"))
    assert (without["principal"], without["groups"]) == ("ann", ["everyone"])
    assert {space["name"] for space in without["namespaces"]} == {"open", "own"}


async def test_a_group_that_stands_for_itself_is_not_the_one_of_an_issuer(place: Place) -> None:
    database = place.desk.store.database
    await grant(database, ADMIN, "staff", "inner", "WRITER")
    await upsert_principal(database, ADMIN, PrincipalInput(f"{ISSUER}#person", "USER"))
    await grant(database, ADMIN, f"{ISSUER}#person", "own", "WRITER")
    assert await place.open_to(place.issuer.token("ann", groups=["staff", "team", "ann", "person"])) == {
        "open": ["READER"],
        "inner": ["READER"],
        "own": ["READER"],
    }
    assert set(await place.open_to(place.issuer.token("team"[:3], groups=["everyone"]))) == {"open"}


async def test_what_is_taken_from_a_claimed_group_is_gone_with_the_next_request(place: Place) -> None:
    token = place.issuer.token("ann", groups=["staff"])
    database = place.desk.store.database
    assert "inner" in await place.open_to(token)
    await revoke(database, ADMIN, "team", "inner")
    assert "inner" not in await place.open_to(token)
    await grant(database, ADMIN, STAFF, "inner")
    assert "inner" in await place.open_to(token)
    await delete_principal(database, ADMIN, STAFF)
    assert "inner" not in await place.open_to(token)


async def test_a_caller_without_a_row_stands_for_its_groups_and_everyone(place: Place) -> None:
    token = place.issuer.token("бруно", groups=["staff"])
    assert await place.viewer(token) == {
        "principal": "бруно",
        "actingFor": None,
        "groups": sorted(["everyone", STAFF, "team"]),
        "namespaces": [{"name": "inner", "roles": ["READER"]}, {"name": "open", "roles": ["READER"]}],
    }
    assert await place.desk.refusal('{ entity(namespace: "own", key: "k") { key } }', token) == "NAMESPACE_NOT_FOUND"
    assert (
        await place.desk.refusal('mutation { createNamespace(input: {name: "mine"}) { namespace { name } } }', token)
        == "FORBIDDEN"
    )


async def test_a_claimed_group_may_write_where_it_has_the_role(place: Place) -> None:
    database = place.desk.store.database
    await grant(database, ADMIN, STAFF, "inner", "WRITER")
    for subject in ("ann", "nobody"):
        token = place.issuer.token(subject, groups=["staff"])
        assert (await place.desk.ask(WRITE, token, namespace="inner"))["ingestSources"]["results"][0]["code"] is None
        assert await place.desk.refusal(WRITE, token, namespace="open") == "FORBIDDEN"
        assert await place.desk.refusal(WRITE, place.issuer.token(subject), namespace="inner") == "NAMESPACE_NOT_FOUND"


async def test_a_session_ends_with_the_token_that_opened_it(place: Place) -> None:
    for ends_in, holds in ((60, True), (-1, False)):
        identity = Identity(subject="ann", ends_at=time.time() + ends_in)
        async with Session(place.desk.store, identity, deadline=asyncio.get_running_loop().time() + 60) as session:
            if holds:
                assert (await session.caller).name == "ann"
                assert session.ends_at == identity.ends_at
            else:
                with pytest.raises(Unauthenticated):
                    await session.caller


async def test_a_subject_that_is_called_like_a_group_is_nobody(place: Place) -> None:
    assert await place.desk.refusal(WHO, place.issuer.token("team")) == "UNAUTHENTICATED"


async def test_an_issuer_that_is_down_is_answered_503(place: Place) -> None:
    place.issuer.status = 503
    down = await place.desk.send(WHO, place.issuer.token())
    assert (down.status_code, down.json()["errors"][0]["extensions"]["code"]) == (503, "PROVIDER_UNAVAILABLE")


async def test_a_token_that_does_not_hold_is_answered_401(place: Place) -> None:
    for token in (place.issuer.token(aud="elsewhere"), place.issuer.token(algorithm="RS384"), "x" * 20_000):
        refused = await place.desk.send(WHO, token)
        assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, "Bearer")


async def test_opaque_tokens_go_on_beside_signed_ones(place: Place) -> None:
    made = await create_token(place.desk.store.database, ADMIN, "ann")
    assert (await place.viewer(made.token))["principal"] == "ann"
    assert await place.desk.refusal(WHO, "ctxql_invented") == "UNAUTHENTICATED"
