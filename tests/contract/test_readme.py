"""The examples of the README do what it says, on pages of the demo corpus."""

from __future__ import annotations

import asyncio
import json
import os
import re
import runpy
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from graphql import parse, validate

from app.demo.corpus import LANGUAGES, TITLES, namespace_of, pages
from app.demo.team import load_team
from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principal
from retrieval.administration.tokens import create_token
from retrieval.ingest.statistics import refresh_statistics
from retrieval.ingest.write import connect_links, ingest_source
from retrieval.store import Store
from schema.api import make_schema
from tests.fixtures.commands import blocks
from tests.fixtures.world import execute, opened, served
from tests.fixtures.writing import ADMIN, values

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
READER = "reader-ru"
PAGES = {"tutorial/request-files.md", "tutorial/request-forms.md", "tutorial/middleware.md", "advanced/json-base64-bytes.md"}
GRAPHQL = list(blocks(README, "graphql"))
RUNNABLE = [(rest, code) for rest, code in GRAPHQL if rest.startswith("runnable")]
PYTHON = [code for _, code in blocks(README, "python")]


@asynccontextmanager
async def demo(url: str) -> AsyncIterator[tuple[Store, str]]:
    """A few pages of the demo corpus in a base without a provider, with the reader's token."""
    async with opened(url) as store:
        store.embedder = None
        for language in LANGUAGES:
            name = namespace_of(language)
            await create_namespace(store.database, ADMIN, name, TITLES[language])
            for page in pages(language):
                if page.key in PAGES:
                    await ingest_source(store.database, store.base, ADMIN, name, page)
        await load_team(store)
        for ns in await values(store, "select ns from namespace"):
            await connect_links(store.database, ns)
            await refresh_statistics(store.database, ns)
        await upsert_principal(store.database, ADMIN, PrincipalInput(READER, "USER"))
        await grant(store.database, ADMIN, READER, namespace_of("ru"))
        yield store, (await create_token(store.database, ADMIN, READER)).token


@pytest.mark.parametrize("code", [code for _, code in GRAPHQL])
def test_every_document_fits_the_schema(code: str) -> None:
    assert validate(make_schema()._schema, parse(code)) == []


async def test_every_runnable_document_gives_what_it_is_for(base_url: str) -> None:
    assert len(RUNNABLE) >= 6
    async with demo(base_url) as (store, token):
        for rest, code in RUNNABLE:
            answer = await execute(store, code, token if f"as={READER}" in rest else None)
            assert "errors" not in answer, code
            assert empty(answer["data"]) - EMPTY_HERE == set(), code
            assert shape(answer["data"]) >= shape(shown_after(code)), code


EMPTY_HERE = {"isEmpty", "message", "code", "degraded", "ordinal", "rank", "start", "hasNextPage", "heading", "pendingEmbeddings",
              "additionalProperties", "conflict"}  # fmt: skip
"""Fields that may be empty, false or 0 in these examples."""


def empty(value: Any, name: str = "") -> set[str]:
    """The names of the fields that hold nothing."""
    if isinstance(value, dict):
        return {found for key, below in value.items() for found in empty(below, key)}
    if isinstance(value, list) and value:
        return {found for below in value for found in empty(below, name)}
    return set() if value else {name}


def shape(value: Any) -> set[str]:
    """The names of all fields of an answer."""
    if isinstance(value, dict):
        return set(value).union(*map(shape, value.values()))
    return set().union(*map(shape, value)) if isinstance(value, list) else set()


def shown_after(code: str) -> Any:
    """The JSON answer that the README shows for a document; an empty one when it shows text or nothing."""
    rest = README.partition(code)[2].partition("```graphql")[0].partition("\n#")[0]
    shown = [text for _, text in blocks("```" + rest.partition("```")[2], "json")]
    return json.loads(shown[0]).get("data", {}) if shown else {}


async def test_the_reader_of_the_demo_finds_no_english_namespace(base_url: str) -> None:
    async with demo(base_url) as (store, token):
        answer = await execute(store, '{ search(question: "upload", namespaces: ["fastapi-en"]) { hits { score } } }', token)
    (shown,) = [json.loads(code) for _, code in blocks(README, "json") if "NAMESPACE_NOT_FOUND" in code]
    answer["errors"][0].pop("locations", None)
    shown["errors"][0].pop("locations", None)
    assert answer == shown


AGENT = Path(__file__).parents[2] / "docs" / "examples" / "agent.py"
OWN = {"role": "on duty"}


@pytest.mark.parametrize("code", PYTHON)
def test_every_python_example_compiles(code: str) -> None:
    compile(code, "README.md", "exec")


def test_the_agent_of_the_readme_is_a_part_of_the_program() -> None:
    (code,) = [code for code in PYTHON if "prompt_for" in code]
    assert code in AGENT.read_text(encoding="utf-8")


async def run_agent(server: str) -> str:
    """What the program prints when it runs against a server."""
    variables = {"PATH": os.environ["PATH"], "CONTEXTQL_URL": server, "CONTEXTQL_SECONDS": "60"}
    process = await asyncio.create_subprocess_exec(sys.executable, AGENT, stdout=PIPE, stderr=PIPE, env=variables)
    out, err = await process.communicate()
    assert (process.returncode, err) == (0, b"")
    return out.decode()


async def test_the_agent_gets_a_pack_and_learns_why_a_document_is_not_in_it(base_url: str) -> None:
    async with demo(base_url) as (store, _), served(store, local_admin=True) as client:
        store.tuning = replace(store.tuning, trace_seconds=20.0)
        out = await run_agent(str(client.base_url))
    *items, dropped, used, why, prompt = out.splitlines()
    assert len(items) == 2
    for line in items:
        score, terms = re.fullmatch(r".+: (0\.\d{4}) = ((?:[A-Z_]+ 0\.\d{4}(?: \+ )?)+)", line).groups()  # type: ignore[union-attr]
        assert sum(float(term.split()[1]) for term in terms.split(" + ")) == pytest.approx(float(score), abs=0.0003)
    assert re.fullmatch(r"Dropped, (OVER_BUDGET|DUPLICATE): [A-Z]+ .+ for \d+ tokens", dropped)
    assert re.fullmatch(r"\d+ of 500 tokens, \d+ dropped", used)
    assert re.match(r"runbook/ledger\.md: (OVER_BUDGET|OUTRANKED|NOT_A_CANDIDATE)\. \w.+", why)
    assert int(prompt.split()[3]) > 500
    (shown,) = [code for _, code in blocks(README, "console") if "agent.py" in code]
    assert [shape_of(line) for line in shown.splitlines()[1:]] == [shape_of(line) for line in out.splitlines()]


def shape_of(line: str) -> str:
    """What kind of line the program printed."""
    return next(kind for kind in (" = ", "Dropped, ", " tokens, ", ".md: ", "The prompt has ") if kind in line)


async def test_the_program_ends_well_when_nobody_listens() -> None:
    first, last = (await run_agent("http://127.0.0.1:1")).splitlines()
    assert first == "No pack in time; going on with what the agent knows itself."
    assert last.startswith("The prompt has ")


async def prompted(client: httpx.AsyncClient, seconds: float = 30.0) -> str:
    """What the agent puts into its prompt."""
    prompt: str = await runpy.run_path(str(AGENT))["prompt_for"]("anything", OWN, client, seconds=seconds)
    return prompt


@pytest.mark.parametrize("pause", [30.0, 0.02], ids=["silent", "dripping"])
async def test_the_agent_goes_on_in_time_when_the_server_is_late(pause: float) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
            while True:
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(pause)
        except (ConnectionError, asyncio.CancelledError):
            writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=None) as client:
            async with asyncio.timeout(25):  # the pause is 30 s, and all drops would take half an hour
                assert await prompted(client, seconds=0.3) == str(OWN)
        server.close()


@pytest.mark.parametrize(
    "reply",
    [
        (200, '{"data": {"contextPack": null}, "errors": [{"message": "late"}]}'),
        (200, '{"data": {"contextPack": {"text": null}}, "errors": [{"message": "late"}]}'),
        (401, '{"errors": [{"message": "no"}]}'),
        (502, "<html>bad gateway</html>"),
        (200, "[]"),
    ],
)
async def test_the_agent_goes_on_when_the_answer_holds_no_pack(reply: tuple[int, str]) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(reply[0], text=reply[1]))
    async with httpx.AsyncClient(base_url="http://127.0.0.1:1", transport=transport) as client:
        assert await prompted(client) == str(OWN)


async def test_the_agent_keeps_its_pack_when_the_trace_is_late() -> None:
    pack = {"text": "# Facts", "sections": [], "traceId": "ctx-1", "budget": {"usedTokens": 1, "maxTokens": 9, "dropped": []}}

    async def answer(request: httpx.Request) -> httpx.Response:
        if b"contextPack" not in request.content:
            await asyncio.sleep(30)
        return httpx.Response(200, json={"data": {"contextPack": pack}})

    async with httpx.AsyncClient(base_url="http://127.0.0.1:1", transport=httpx.MockTransport(answer)) as client:
        for seconds in (0.3, 3.0, 20.0):  # on a busy machine the pack itself may be late
            async with asyncio.timeout(25):
                prompt = await prompted(client, seconds=seconds)
            if prompt != str(OWN):
                break
    assert prompt == "# Facts"
