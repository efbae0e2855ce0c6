"""Entities without texts are written and read over the API: who may, how many, and which attributes hold when."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

from retrieval.administration.grants import grant
from retrieval.administration.principals import PrincipalInput, upsert_principals
from tests.fixtures.desk import Desk
from tests.fixtures.writing import ADMIN, DOCS

UPSERT = """mutation($entities: [EntityInput!]!) {
    upsertEntities(input: {namespace: "docs", entities: $entities}) { results { key outcome code message } } }"""
AS_OF = 'query($asOf: DateTime) { entity(namespace: "docs", key: "svc") { attributes(asOf: $asOf) } }'
START = datetime(2026, 1, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)


def service(**given: Any) -> dict[str, Any]:
    return {"key": "svc", "type": "service", "title": "Billing"} | given


async def upsert(desk: Desk, *entities: dict[str, Any], token: str | None = None) -> list[str]:
    answer = await desk.ask(UPSERT, token, entities=list(entities))
    return [one["code"] or one["outcome"] for one in answer["upsertEntities"]["results"]]


async def held(desk: Desk, at: datetime | None = None) -> dict[str, Any]:
    answer = await desk.ask(AS_OF, asOf=at.isoformat() if at else None)
    attributes: dict[str, Any] = answer["entity"]["attributes"]
    return attributes


async def test_attributes_are_right_on_both_sides_of_every_boundary_in_any_order(desk: Desk) -> None:
    moments = [START + timedelta(days=number) for number in range(6)] + [START + TICK, START + timedelta(days=3) - TICK]
    versions = [service(attributes={"n": number}, validFrom=moment.isoformat()) for number, moment in enumerate(moments)]
    random.Random(4).shuffle(versions)
    await upsert(desk, *versions)
    for probe in sorted({moment + shift for moment in moments for shift in (-TICK, 0 * TICK, TICK)}):
        begun = [(moment, number) for number, moment in enumerate(moments) if moment <= probe]
        assert await held(desk, probe) == ({"n": max(begun)[1]} if begun else {}), probe


async def test_a_version_that_begins_in_another_zone_begins_at_the_same_instant(desk: Desk) -> None:
    await upsert(desk, service(attributes={"n": 1}, validFrom="2026-01-01T03:00:00+03:00"))
    assert (await held(desk, START), await held(desk, START - TICK)) == ({"n": 1}, {})
    assert await upsert(desk, service(attributes={"n": 1}, validFrom="2026-01-01T00:00:00Z")) == ["UNCHANGED"]


async def test_first_and_last_years_hold_and_what_lies_beyond_is_refused(desk: Desk) -> None:
    first, last = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"
    assert await upsert(desk, service(attributes={"n": 1}, validFrom=first), service(attributes={"n": 2}, validFrom=last)) == [
        "CREATED", "UPDATED",
    ]  # fmt: skip
    assert await held(desk) == {"n": 1}
    assert await held(desk, datetime.fromisoformat(last)) == {"n": 2}
    for beyond in ("0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z"):
        assert await desk.refusal(UPSERT, entities=[service(attributes={}, validFrom=beyond)]) == "BAD_INPUT"
    for beyond in ("0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2026-01-01T00:00:00"):
        assert await upsert(desk, service(attributes={}, validFrom=beyond)) == ["BAD_INPUT"]


async def test_only_writers_write_and_a_reader_learns_nothing(desk: Desk) -> None:
    people = ("reader", "writer", "stranger")
    await upsert_principals(desk.store.database, ADMIN, [PrincipalInput(name, "USER") for name in people])
    await grant(desk.store.database, ADMIN, "reader", DOCS)
    await grant(desk.store.database, ADMIN, "writer", DOCS, "WRITER")
    tokens = {name: await desk.token(name) for name in people}
    assert await upsert(desk, service(restricted=True), token=tokens["writer"]) == ["CREATED"]
    assert await desk.refusal(UPSERT, tokens["reader"], entities=[service()]) == "FORBIDDEN"
    assert await desk.refusal(UPSERT, tokens["stranger"], entities=[service()]) == "NAMESPACE_NOT_FOUND"
    assert (await desk.ask(AS_OF, tokens["reader"]))["entity"] is None


async def test_too_many_entities_are_refused_whole_and_many_go_in(desk: Desk) -> None:
    many = [{"key": f"k{number}", "type": "t", "title": "x"} for number in range(1_001)]
    assert await desk.refusal(UPSERT, entities=many) == "LIMIT_EXCEEDED"
    assert await upsert(desk, *many[:300]) == ["CREATED"] * 300
    assert await upsert(desk, *many[:300]) == ["UNCHANGED"] * 300
