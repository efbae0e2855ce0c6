"""Commands that read with the rights of a token take opaque and signed ones, and say why one does not hold."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.administration.tokens import create_token
from retrieval.ingest.statistics import refresh_statistics
from tests.app.cli.conftest import Run
from tests.fixtures.issuer import AUDIENCE, ISSUER, Issuer
from tests.fixtures.world import opened
from tests.fixtures.writing import ADMIN, DOCS, put, values

STAFF = f"{ISSUER}#staff"


@pytest.fixture
def issuer(settings: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Issuer]:
    """An issuer that the commands trust, in a thread of its own: they run in loops of theirs."""
    issuer, loop, ready = Issuer(), asyncio.new_event_loop(), threading.Event()
    ended = asyncio.Event()

    async def serve() -> None:
        async with issuer.served():
            ready.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    assert ready.wait(60)
    for name, value in {"ISSUER": ISSUER, "AUDIENCE": AUDIENCE, "JWKS_URL": issuer.url}.items():
        monkeypatch.setenv(f"CB_JWT_{name}", value)
    yield issuer
    loop.call_soon_threadsafe(ended.set)
    thread.join(60)
    loop.close()


@pytest.fixture
def opaque(base: str) -> str:
    """A base with a document of `docs` that only those of the claimed group read, and an opaque token of Ann, who does not."""

    async def fill() -> str:
        async with opened(base) as store:
            await create_namespace(store.database, ADMIN, DOCS)
            people = [PrincipalInput("ann", "USER"), PrincipalInput(STAFF, "GROUP")]
            await upsert_principals(store.database, ADMIN, people)
            await grant(store.database, ADMIN, STAFF, DOCS)
            await put(store, "near", "зебра зебра")
            for ns in await values(store, "select ns from namespace"):
                await refresh_statistics(store.database, ns)
            return (await create_token(store.database, ADMIN, "ann")).token

    return asyncio.run(fill())


COMMANDS = (
    ["ask", "зебра", "--json"],
    ["pack", "зебра", "--strategy", "exact", "--json"],
    ["typed", "document", "near", "--json"],
)


def test_a_signed_token_reads_what_its_claimed_groups_may(run: Run, opaque: str, issuer: Issuer) -> None:
    for command in COMMANDS:
        for token, sees in (
            (issuer.token("ann", groups=["staff"]), True),
            (issuer.token("cleo", groups=["staff"]), True),
            (issuer.token("ann"), False),
            (opaque, False),
        ):
            found = run(*command, "--token", token)
            assert found.code == 0, found.err
            assert ('"near"' in found.out.split('"unresolved"')[0]) == sees, (command, sees, found.out)
    assert issuer.fetches == len(COMMANDS) * 3, "only for signed ones"


def test_a_token_may_come_by_a_variable_and_stays_out_of_what_is_printed(
    run: Run, opaque: str, issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = issuer.token("ann", groups=["staff"])
    monkeypatch.setenv("CB_TOKEN", opaque)
    assert '"near"' not in run(*COMMANDS[0]).out, "the token decides, not the administrator"
    assert '"near"' in run(*COMMANDS[0], "--token", token).out, "what is given goes first"
    monkeypatch.setenv("CB_TOKEN", token)
    assert '"near"' in run(*COMMANDS[0]).out
    for shown in (run("ask", "--help"), run("doctor")):
        assert token not in shown.out + shown.err
        assert "CB_TOKEN is not a setting" not in shown.out + shown.err
    monkeypatch.setenv("CB_TOKEN", "")
    assert '"near"' in run(*COMMANDS[0]).out, "an empty one is none"


def test_a_trace_of_a_signed_token_is_shown_to_its_subject(run: Run, opaque: str, issuer: Issuer) -> None:
    token = issuer.token("cleo", groups=["staff"])
    trace = run("pack", "зебра", "--strategy", "exact", "--json", "--token", token).json["traceId"]
    assert run("trace", "show", trace, "--token", token).out.startswith("contextPack of cleo")
    assert run("trace", "why", trace, "--key", "near", "--token", token).out.startswith("INCLUDED")
    assert "Nothing has changed" in run("trace", "replay", trace, "--token", token).out
    assert "There is no trace" in run("trace", "show", trace, "--token", issuer.token("dora", groups=["staff"])).sentence
    assert "There is no trace" in run("trace", "show", trace, "--token", opaque).sentence
    without = run("trace", "replay", trace)
    assert "cleo made it and has no token that holds" in without.err
    assert without.code == 0


def test_a_token_that_does_not_hold_is_refused_with_the_reason(run: Run, opaque: str, issuer: Issuer) -> None:
    for token, reason in (
        (issuer.token("ann", exp=int(time.time()) - 600), "The token has expired"),
        (issuer.token("ann", aud="elsewhere"), "The token is for another audience"),
        (issuer.token("ann", groups=["x" * 20_000]), "The token is longer than 16,384 characters"),
        ("ctxql_invented", "The token is unknown, expired or revoked"),
    ):
        assert reason in run("ask", "зебра", "--token", token).sentence
    issuer.status = 503
    assert "The keys of the issuer" in run("ask", "зебра", "--token", issuer.token("ann")).err
