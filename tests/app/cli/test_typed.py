"""A typed walk on the command line: two dates, what is not there, and steps that nobody understands."""

from __future__ import annotations

import asyncio

import pytest

from app.demo.team import load_team
from tests.app.cli.conftest import Run
from tests.fixtures.world import opened

STEPS = ("--step", "assigned_to", "--step", "concerns,out,depth=1,limit=9", "--step", "owned_by,previous", "-n", "team")


@pytest.fixture
def team(base: str) -> None:
    """The example of a software team."""

    async def load() -> None:
        async with opened(base) as store:
            await load_team(store)

    asyncio.run(load())


def test_who_works_on_a_ticket_depends_on_the_instant(run: Run, team: None) -> None:
    early = run("typed", "ticket", "PAY-101", *STEPS, "--as-of", "2026-09-06T00:00:00Z")
    assert early.code == 0
    assert "Boris Lind" in early.out
    assert "Ann Petrova" not in early.out
    late = run("typed", "ticket", "look at PAY-101", *STEPS, "--as-of", "2026-09-20T00:00:00Z", "--json").json
    assert late["anchors"][0]["resolvedBy"] == "ID_PATTERN"
    assert [item["title"] for section in late["sections"] if section["type"] == "person" for item in section["items"]] == [
        "Ann Petrova"
    ]
    assert {"subject": "service/payments", "predicate": "owned_by", "object": "person/ann"}.items() <= next(
        fact for fact in late["facts"] if fact["predicate"] == "owned_by"
    ).items()


def test_what_is_not_there_is_said_and_what_is_not_understood_is_refused(run: Run, team: None) -> None:
    assert "There is nothing of this type" in run("typed", "ticket", "PAY-999", "-n", "team").err
    assert "did you mean 'concerns'?" in run("typed", "ticket", "PAY-101", "--step", "concern", "-n", "team").sentence
    assert "none of in, out, both" in run("typed", "ticket", "PAY-101", "--step", "concerns,sideways").sentence
    assert "no instant" in run("typed", "ticket", "PAY-101", "--as-of", "yesterday").sentence
    assert "needs a time zone" in run("typed", "ticket", "PAY-101", "--as-of", "2026-09-06").sentence
