"""Lists of entities are walked page by page while others write, and counted over time."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from retrieval.administration.grants import grant
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.keys import key_digest
from retrieval.store import Store
from tests.fixtures.desk import Desk, with_namespace
from tests.fixtures.world import execute_in, session_for
from tests.fixtures.writing import ADMIN, DOCS

PAGE = """query($namespaces: [String!], $filter: EntityFilter, $orderBy: EntityOrder!, $first: Int!, $after: String) {
    entities(namespaces: $namespaces, filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
        edges { cursor node { key } } nodes { key } totalCount
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
TREND = """query($dimensions: [Dimension!]!, $dateField: DateField!) {
    aggregate(metric: ENTITIES, dimensions: $dimensions, dateField: $dateField) {
        total buckets { values { dimension value } count } } }"""
ORDERS = ("KEY", "TITLE", "CREATED", "UPDATED", "OCCURRED")
START = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = ("b", "a", "ё", "е", "A", "я", "B", "c/1", "c/10", "c/2", "😀")


async def add(store: Store, key: str, number: int, occurred: datetime | None = None) -> None:
    """An entity of a changing title and dates of which some are equal, some missing."""
    created, updated = START + timedelta(days=number // 3), START + timedelta(days=number // 2, microseconds=number)
    async with store.database.writing() as connection:
        await connection.execute(
            """insert into entity (ns, key_digest, key, kind, type, title, occurred_at, created_at, updated_at)
               values (1, $1, $2, 'THING', $3, $4, $5, $6, $7)""",
            key_digest(key), key, f"type{number % 2}", f"title {number % 4}", occurred, created, updated,
        )  # fmt: skip


async def filled(desk: Desk) -> Desk:
    for number, key in enumerate(KEYS):
        await add(desk.store, key, number, None if number % 3 == 0 else START + timedelta(days=number % 4))
    return desk


async def page(desk: Desk, token: str | None = None, first: int = 4, **given: Any) -> dict[str, Any]:
    data = await desk.ask(PAGE, token, **({"orderBy": "KEY", "first": first} | given))
    found: dict[str, Any] = data["entities"]
    assert [edge["node"] for edge in found["edges"]] == found["nodes"]
    cursors = [edge["cursor"] for edge in found["edges"]]
    info = found["pageInfo"]
    assert (info["startCursor"], info["endCursor"]) == ((cursors[0], cursors[-1]) if cursors else (None, None))
    return found


def keys_of(found: dict[str, Any]) -> list[str]:
    return [node["key"] for node in found["nodes"]]


async def walked(desk: Desk, first: int, **given: Any) -> list[str]:
    """All pages, one after the other."""
    keys: list[str] = []
    after = None
    while True:
        found = await page(desk, first=first, after=after, **given)
        assert found["pageInfo"]["hasPreviousPage"] == (after is not None)
        keys += keys_of(found)
        if not found["pageInfo"]["hasNextPage"]:
            assert found["totalCount"] == len(keys)
            return keys
        assert len(found["nodes"]) == first
        after = found["pageInfo"]["endCursor"]


async def test_every_size_of_page_gives_the_same_list(desk: Desk) -> None:
    await filled(desk)
    for order in ORDERS:
        whole = await walked(desk, 100, orderBy=order)
        assert sorted(whole) == sorted(KEYS)
        for size in range(1, len(KEYS) + 1):
            assert await walked(desk, size, orderBy=order) == whole, (order, size)
    assert await walked(desk, 3) == sorted(KEYS)
    only = await walked(desk, 2, orderBy="UPDATED", filter={"types": ["type1"]})
    assert only == [key for key in await walked(desk, 100, orderBy="UPDATED") if KEYS.index(key) % 2 == 1]


async def test_newest_come_first_and_what_has_no_date_last(desk: Desk) -> None:
    await filled(desk)
    assert await walked(desk, 3, orderBy="UPDATED") == list(reversed(KEYS))
    dates = [None if KEYS.index(key) % 3 == 0 else KEYS.index(key) % 4 for key in await walked(desk, 3, orderBy="OCCURRED")]
    dated = [date for date in dates if date is not None]
    assert dates == [*sorted(dated, reverse=True), *[None] * (len(dates) - len(dated))]


async def test_a_page_starts_where_the_last_one_ended_whatever_was_written_meanwhile(desk: Desk) -> None:
    await filled(desk)
    before = await walked(desk, 100)
    found = await page(desk, first=5)
    after = found["pageInfo"]["endCursor"]
    last = keys_of(found)[-1]
    for number, key in enumerate(("!", "zz", f"{last}!"), 20):
        await add(desk.store, key, number)
    rest = keys_of(await page(desk, first=100, after=after))
    assert rest == sorted([*before[5:], "zz", f"{last}!"])
    async with desk.store.database.writing() as connection:
        await connection.execute("delete from entity where key = any($1)", [last, before[6]])
    rest = keys_of(await page(desk, first=100, after=after))
    assert rest == sorted([*before[5:6], *before[7:], "zz", f"{last}!"])


async def test_a_cursor_is_good_for_one_caller_one_filter_and_one_order(desk: Desk) -> None:
    await with_namespace(await filled(desk), "other")
    await upsert_principals(desk.store.database, ADMIN, [PrincipalInput("ann", "USER"), PrincipalInput("bob", "USER")])
    for name in ("ann", "bob"):
        await grant(desk.store.database, ADMIN, name, DOCS)
    ann, bob = await desk.token("ann"), await desk.token("bob")
    given: dict[str, Any] = {"filter": {"types": ["type0", "type1"]}, "namespaces": [DOCS]}
    after = (await page(desk, ann, first=2, **given))["pageInfo"]["endCursor"]
    same = given | {"filter": {"types": ["type1", "type0"]}}
    assert len((await page(desk, ann, first=3, after=after, **same))["nodes"]) == 3
    others: list[tuple[str, dict[str, Any]]] = [
        (bob, {}),
        (ann, {"orderBy": "TITLE"}),
        (ann, {"filter": {"types": ["type0"]}}),
        (ann, {"filter": None}),
        (ann, {"namespaces": None}),
        (ann, {"after": after[:-2]}),
        (ann, {"after": after[1:]}),
        (ann, {"after": ""}),
        (ann, {"after": "нет"}),
        (ann, {"after": after + "AAAA"}),
    ]
    for token, change in others:
        asked: dict[str, Any] = {"orderBy": "KEY", "first": 3, "after": after} | given | change
        assert await desk.refusal(PAGE, token, **asked) == "BAD_CURSOR", change
    fragments = "query($after: String) { entities(first: 1) { nodes { fragments(after: $after) { totalCount } } } }"
    answer = (await desk.send(fragments, ann, after=after)).json()
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"BAD_CURSOR"}


@pytest.mark.parametrize("field", ["entities { totalCount }", "aggregate(metric: FACTS, dimensions: []) { total }"])
async def test_the_access_line_names_what_was_listed_and_counted(desk: Desk, field: str) -> None:
    async with session_for(desk.store, None) as session:
        await execute_in(session, f"{{ {field} }}")
        assert session.description()["namespaces"] == [DOCS]


async def test_pages_of_odd_sizes_and_filters_are_refused(desk: Desk) -> None:
    refused: list[dict[str, Any]] = [
        {"first": 0}, {"first": 101}, {"first": -1},
        {"filter": {"keys": ["k"] * 10_000}}, {"filter": {"createdAfter": "2026-01-01T00:00:00"}},
        {"filter": {"attributes": [1]}},
    ]  # fmt: skip
    for change in refused:
        asked: dict[str, Any] = {"orderBy": "KEY", "first": 3} | change
        assert await desk.refusal(PAGE, **asked) == "BAD_INPUT", change
    empty = await page(desk, filter={"createdAfter": "2030-01-01T00:00:00Z", "createdBefore": "2020-01-01T00:00:00Z"})
    assert (empty["nodes"], empty["totalCount"]) == ([], 0)
    assert (await page(desk, filter={"attributes": {"never": "heard"}}))["nodes"] == []


async def trend(desk: Desk, *dimensions: str, field: str = "OCCURRED") -> tuple[int, list[tuple[Any, ...]]]:
    data = (await desk.ask(TREND, dimensions=dimensions, dateField=field))["aggregate"]
    return data["total"], [(*(pair["value"] for pair in bucket["values"]), bucket["count"]) for bucket in data["buckets"]]


async def test_a_trend_counts_in_utc_and_fills_its_gaps(desk: Desk) -> None:
    moments = ("2025-12-31T23:30:00+00:00", "2026-01-01T01:00:00+03:00", "2026-01-12T00:00:00+00:00", None)
    for number, moment in enumerate(moments):
        await add(desk.store, f"k{number}", number, None if moment is None else datetime.fromisoformat(moment))
    total, weeks = await trend(desk, "WEEK")
    assert (total, weeks) == (4, [("2025-12-29", 2), ("2026-01-05", 0), ("2026-01-12", 1), (None, 1)])
    assert await trend(desk, "MONTH") == (4, [("2025-12", 2), ("2026-01", 1), (None, 1)])
    days = (await trend(desk, "DAY"))[1]
    assert (days[0], days[1], len(days)) == (("2025-12-31", 2), ("2026-01-01", 0), 14)
    assert await trend(desk) == (4, [(4,)])
    assert await trend(desk, "TYPE", "NAMESPACE") == (4, [("type0", DOCS, 2), ("type1", DOCS, 2)])


async def test_a_trend_over_seven_centuries_says_what_to_change(desk: Desk) -> None:
    await add(desk.store, "old", 0, datetime(1325, 5, 1, tzinfo=UTC))
    await add(desk.store, "new", 1, datetime(2026, 5, 1, tzinfo=UTC))
    for dimension in ("DAY", "WEEK", "MONTH"):
        answer = (await desk.send(TREND, dimensions=[dimension], dateField="OCCURRED")).json()
        (error,) = answer["errors"]
        assert error["extensions"]["code"] == "BAD_INPUT"
        assert "1,000 buckets; take a longer period" in error["message"]
    for dimensions in (["DAY", "WEEK"], ["TYPE", "TYPE"], ["TYPE", "KIND", "STATUS"]):
        assert await desk.refusal(TREND, dimensions=dimensions, dateField="OCCURRED") == "BAD_INPUT"
    assert await trend(desk, "TYPE") == (2, [("type0", 1), ("type1", 1)])


async def test_more_groups_than_the_limit_are_refused(desk: Desk) -> None:
    async with desk.store.database.writing() as connection:
        await connection.execute(
            """insert into entity (ns, key_digest, key, kind, type, title, source_path)
               select 1, int4send(n), n::text, 'THING', 'x', 'x', '/' || n from generate_series(1, 1001) n"""
        )
    assert await desk.refusal(TREND, dimensions=["SOURCE_PATH"], dateField="CREATED") == "BAD_INPUT"
    async with desk.store.database.writing() as connection:
        await connection.execute("delete from entity where key = '1'")
    assert len((await trend(desk, "SOURCE_PATH"))[1]) == 1_000


@pytest.mark.parametrize("order", ORDERS)
async def test_pages_that_are_asked_at_once_are_as_those_asked_in_turn(desk: Desk, order: str) -> None:
    await filled(desk)
    turn = await walked(desk, 4, orderBy=order)
    again = await asyncio.gather(*(walked(desk, 4, orderBy=order) for _ in range(5)))
    assert again == [turn] * 5
