"""The example of a software team loads, follows its own pack, and tells of one ticket what held at two dates."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.demo.team import FOLDER, NAMESPACE, load_team
from retrieval.domain.reading import read_pack
from retrieval.domain.rules import Domain
from retrieval.store import Store
from tests.fixtures.world import execute, opened

AROUND = """query($asOf: DateTime) {
  entity(namespace: "team", key: "PAY-101") { facts(asOf: $asOf, first: 50) { nodes {
      predicate object { key } value conflict(asOf: $asOf) subject { key } } } } }"""


@pytest.fixture
async def team(base_url: str) -> AsyncIterator[Store]:
    """A base with the example."""
    async with opened(base_url) as store:
        assert await load_team(store)
        yield store


async def around(store: Store, as_of: str) -> dict[str, Any]:
    """What holds of the ticket: objects and values by predicate, and those in conflict."""
    answer = await execute(store, AROUND, variables={"asOf": as_of})
    facts = answer["data"]["entity"]["facts"]["nodes"]
    held: dict[str, Any] = {}
    for fact in facts:
        if fact["subject"]["key"] == "PAY-101":
            held.setdefault(fact["predicate"], set()).add(fact["object"]["key"] if fact["object"] else fact["value"])
    return held | {"conflicts": {fact["predicate"] for fact in facts if fact["conflict"]}}


async def test_it_is_loaded_once(team: Store) -> None:
    assert not await load_team(team)


async def test_one_ticket_is_another_at_another_date(team: Store) -> None:
    before, after = await around(team, "2026-09-06T00:00:00Z"), await around(team, "2026-09-20T00:00:00Z")
    assert before["assigned_to"] == {"person/boris"}
    assert after["assigned_to"] == {"person/ann"}
    assert (before["state"], after["state"]) == ({"in progress"}, {"done"})
    assert before["blocked_by"] == {"LED-40"}
    assert "blocked_by" not in after
    assert (before["conflicts"], after["conflicts"]) == ({"priority"}, set())
    assert after["described_in"] == {"runbook/payments.md", "postmortem/2026-09-payments.md"}
    assert after["fixed_in"] == {"run/840"}


def test_its_patterns_and_aliases_find_what_people_write() -> None:
    domain = Domain((read_pack((FOLDER / "pack.yaml").read_text(encoding="utf-8")),))
    text = "Since Run #812 POST /api/v1/payments is slow, see PAY-101 and ask @ann; COPAY-1 is something else"
    assert [one.key for one in domain.identifiers(text)] == ["PAY-101", "run/812", "POST /api/v1/payments", "person/ann"]
    assert domain.key_of("Billing") == "service/payments"


def test_it_stands_where_a_newcomer_looks() -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    assert "app/demo/software_team" in readme
    assert f'namespace: "{NAMESPACE}"' in readme
