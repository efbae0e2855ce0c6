"""Walks over links meet each entity once, end where links go round, and cost by entities, not by ways."""

from __future__ import annotations

import time

from tests.fixtures.desk import Desk

AROUND = """query($keys: [String!], $hops: Int!) { search(question: "начало", filter: {keys: $keys}, k: 1, hops: $hops) {
    hits { entity { key } } neighbors { hops entity { key } via { subject { key } object { key } } } } }"""


async def around(desk: Desk, key: str, hops: int) -> dict[str, tuple[int, int]]:
    """How far each neighbour of a document is, and over how many facts."""
    found = (await desk.ask(AROUND, keys=[key], hops=hops))["search"]
    assert [hit["entity"]["key"] for hit in found["hits"]] == [key]
    keys = [one["entity"]["key"] for one in found["neighbors"]]
    assert len(keys) == len(set(keys))
    return {one["entity"]["key"]: (one["hops"], len(one["via"])) for one in found["neighbors"]}


async def test_what_two_ways_lead_to_comes_once_with_both(desk: Desk) -> None:
    await desk.fill({"a": "начало [b](b) [c](c)", "b": "[d](d)", "c": "[d](d)", "d": "конец"})
    assert await around(desk, "a", 1) == {"b": (1, 1), "c": (1, 1)}
    assert await around(desk, "a", 2) == {"b": (1, 1), "c": (1, 1), "d": (2, 2)}


async def test_links_that_go_round_end_and_a_document_is_not_its_own_neighbour(desk: Desk) -> None:
    await desk.fill({"a": "начало [я](a) [b](b)", "b": "начало [a](a) [b](b)"})
    for hops in (1, 2):
        assert await around(desk, "a", hops) == {"b": (1, 2)}


async def test_a_dense_net_costs_by_its_entities(desk: Desk) -> None:
    keys = [f"n{number}" for number in range(31)]
    await desk.fill(
        {
            key: "начало " + " ".join(f"[x](n{(place + step * step) % 31})" for step in range(1, 9))
            for place, key in enumerate(keys)
        }
    )
    started = time.monotonic()
    found = await around(desk, "n0", 2)
    assert time.monotonic() - started < 30
    assert set(found) == set(keys) - {"n0"}
