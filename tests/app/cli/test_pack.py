"""A pack on the command line: as a table, as JSON, as text for a prompt, and what is refused."""

from __future__ import annotations

import asyncio
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.demo.team import load_team
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.administration.tokens import create_token
from retrieval.store import Store
from tests.app.cli.conftest import TEMPLATE, Run, migrate
from tests.fixtures.databases import TestServer
from tests.fixtures.world import opened
from tests.fixtures.writing import ADMIN

ASKED = ("-n", "team", "--anchor", "PAY-101", "--as-of", "2026-09-06T00:00:00Z", "--max-tokens", 420)
WHY = "Why do payments time out? ERR_PAY_TIMEOUT"


@pytest.fixture(scope="module")
def base(database_server: TestServer) -> Iterator[str]:
    """The example of a software team, for all tests of this file."""
    url = database_server.create(database_server.template_database(TEMPLATE, migrate))
    asyncio.run(filled(url))
    yield url
    database_server.drop(url)


async def filled(url: str) -> None:
    async with opened(url) as store:
        await load_team(store)


def items_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for section in found["sections"] for item in section["items"]]


def test_json_has_the_whole_pack_and_its_trace_says_why(run: Run) -> None:
    found = run("pack", WHY, *ASKED, "--json").json
    assert [section["kind"] for section in found["sections"]] == ["RELEVANT_FACTS", "DOCUMENTS"]
    items = items_of(found)
    assert all(sum(signal["contribution"] for signal in item["signals"]) == item["score"] for item in items)
    assert sum(item["tokenEstimate"] for item in items) == found["budget"]["usedTokens"] <= 420
    assert found["conflicts"] == [item["itemId"] for item in items if item["conflict"]]
    assert len(found["conflicts"]) == 2
    assert {one["reason"] for one in found["budget"]["dropped"]} >= {"OVER_BUDGET"}
    assert found["text"].startswith("# Relevant facts")
    dropped = found["budget"]["dropped"][0]["itemId"]
    assert run("trace", "why", found["traceId"], "--item", dropped, "--json").json["outcome"] == "OVER_BUDGET"


def test_the_table_shows_items_bars_and_what_was_dropped(run: Run) -> None:
    out = run("pack", WHY, *ASKED).out
    assert re.match(r"HYBRID · \d+ of 420 tokens\n█+░*\n", out)
    assert "Relevant facts · " in out
    assert out.count("⚡ in conflict") == 2
    assert "[runbook/payments.md]" in out
    assert re.search(r"identifier +█+░+ 0\.0100", out)
    assert re.search(r"over budget +\d+ +0\.\d{4}", out)
    assert re.search(r"^Trace ctx-\S+$", out, re.MULTILINE)
    russian = run("pack", WHY, *ASKED, "--locale", "ru").out
    assert "не хватило места" in russian
    assert "⚡ противоречие" in russian


def test_text_is_for_a_prompt_and_nothing_else(run: Run) -> None:
    told = run("pack", WHY, *ASKED, "--text", "--locale", "ru").out
    assert told == run("pack", WHY, *ASKED, "--json", "--locale", "ru").json["text"] + "\n"
    assert told.startswith("# Факты\n")


def test_every_argument_is_passed_on(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "state.json"
    state.write_text('{"page": "billing"}')
    found = run(
        "pack", "--strategy", "BRIEFING", "--anchor-in", "team", "PAY-101", "--subject", "user:7", "--scope", "project:a",
        "--allowed-scope", "project:a", "--ephemeral", state, "-k", 3, "--known-at", "2026-09-06T00:00:00Z", "--json",
    ).json  # fmt: skip
    assert found["strategy"] == "BRIEFING"
    assert [item["text"] for item in items_of(found) if item["kind"] == "CURRENT"] == ['{"page":"billing"}']
    assert "RELEVANT_FACTS" not in {section["kind"] for section in found["sections"]}, "nothing was recorded by then"
    asked = run("trace", "show", found["traceId"], "--json").json["request"]
    assert asked["subject"] == "user:7"
    assert (asked["relevanceScopes"], asked["allowedScopes"], asked["k"]) == (["project:a"], ["project:a"], 3)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"page": 1}')))
    assert items_of(run("pack", "zebra", "--ephemeral", "-", "--unscoped", "--json").json)[0]["text"] == '{"page":1}'


def test_with_a_token_the_rights_are_its_owners(run: Run, base: str) -> None:
    async def someone(store: Store) -> str:
        await upsert_principals(store.database, ADMIN, [PrincipalInput("ann", "USER")])
        return (await create_token(store.database, ADMIN, "ann")).token

    async def token() -> str:
        async with opened(base) as store:
            return await someone(store)

    mine = asyncio.run(token())
    assert "does not exist or is not open to you" in run("pack", WHY, *ASKED, "--token", mine).sentence
    assert run("pack", WHY, "--token", mine, "--json").json["sections"] == []
    assert "Nothing got in." in run("pack", WHY, "--token", mine).out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing to start from"),
        (("q", "--subject", "ann"), "has no colon"),
        (("q", "--scope", "alpha"), "form `type:id`"),
        (("q", "--max-tokens", 0), "from 1 to"),
        (("q", "--known-at", "yesterday"), "--known-at 'yesterday' is no instant"),
        (("q", "--text", "--json"), "not both"),
        (("q", "--html", "-", "--json"), "takes stdout"),
        (("q", "--unscoped", "--allowed-scope", "a:b"), "not both"),
        (("q", "--html", "/nowhere/at/all.html"), "Could not open file"),
    ],
)
def test_what_is_not_understood_is_refused_in_one_sentence(run: Run, arguments: tuple[object, ...], said: str) -> None:
    assert said in run("pack", *arguments).sentence


def test_a_state_that_is_no_json_is_refused(run: Run, tmp_path: Path) -> None:
    for text in ("{", "[" * 2_000):
        (tmp_path / "state").write_text(text)
        assert "holds no JSON" in run("pack", "q", "--ephemeral", tmp_path / "state").sentence


def test_a_page_is_written_beside_what_is_printed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "pack.html"
    ended = run("pack", WHY, *ASKED, "--html", file)
    assert (ended.out, ended.err) == ("", f"{file} is written; open it in a browser.\n")
    assert file.read_text(encoding="utf-8").startswith('<!doctype html>\n<html lang="en">')
    assert run("pack", WHY, *ASKED, "--html", "-").out.startswith("<!doctype html>")
    assert run("pack", WHY, *ASKED, "--html", file, "--json").json["sections"]
