"""No error quotes what is stored, and no line of the log what was asked, sent or stored, whatever goes wrong."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

import httpx
import pytest

from retrieval.administration.grants import grant
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.ports import Vectors
from tests.fixtures.answering import answering_desk
from tests.fixtures.bases import Bases
from tests.fixtures.desk import Desk
from tests.fixtures.embedders import HashEmbedder
from tests.fixtures.openai_server import Faults, OpenAIServer
from tests.fixtures.writing import ADMIN, DOCS

MAIL, INN, CARD = "ann@example.com", "7707083893", "4012 8888 8888 1881"
SECRETS = ("ann@example", INN, "4012 8888", "40128888")
SOURCES = """mutation($sources: [SourceInput!]!) {
    ingestSources(input: {namespace: "docs", sources: $sources}) { results { code message } } }"""
FACTS = """mutation($facts: [FactInput!]!) {
    assertFacts(input: {namespace: "docs", facts: $facts}) { results { code message } } }"""
SEARCH = """query($q: String!, $f: FragmentFilter, $k: Int = 3) {
    search(question: $q, filter: $f, k: $k, rerank: true) { hits { score } answer { status text } degraded { part message } } }"""

Send = tuple[str, dict[str, Any]]
SENT: list[Send] = [
    (SOURCES, {"sources": [{"key": f"{MAIL}\0", "content": CARD}]}),
    (SOURCES, {"sources": [{"key": MAIL, "content": CARD, "mediaType": MAIL}]}),
    (SOURCES, {"sources": [{"key": MAIL, "content": CARD, "about": [f"nobody {INN}"], "links": [{"to": MAIL}]}]}),
    (SOURCES, {"sources": [{"key": MAIL, "content": 7, "meta": {INN: {"a": {"b": {"c": {"d": 1}}}}}}]}),
    (FACTS, {"facts": [{"subject": f"nobody {MAIL}", "predicate": "inn", "value": INN}]}),
    (FACTS, {"facts": [{"subject": "client", "predicate": f"inn {INN}", "value": INN, "validFrom": MAIL}]}),
    (FACTS, {"facts": [{"subject": "client", "predicate": "\0", "value": MAIL}]}),
    (SEARCH, {"q": f"{MAIL}\0"}),
    (SEARCH, {"q": f"карта {CARD}", "k": INN}),
    (SEARCH, {"q": f"карта {CARD}", "f": {"meta": {MAIL: [[[[INN]]]]}}}),
    (SEARCH, {"q": f"карта {CARD}", "f": {MAIL: 1}}),
    (f'{{ search(question: "{MAIL}", namespaces: ["{MAIL}"]) {{ hits {{ score }} }} }}', {}),
    (f'{{ entities(first: 1, after: "{MAIL}") {{ nodes {{ key }} }} }}', {}),
    (f'{{ nodes(ids: ["{MAIL}"]) {{ id }} entity(namespace: "docs", key: "{MAIL}") {{ key }} }}', {}),
    (f'{{ contextPack(question: "{INN}", relevanceScopes: ["{MAIL}"]) {{ text }} }}', {}),
    (f'{{ typedContext(anchors: [{{kind: "{MAIL}", value: "{INN}"}}], traverse: []) {{ sections {{ name }} }} }}', {}),
    (f'{{ search(question: "{MAIL}" {{ hits }}', {}),
    (f'{{ search(question: "a", order: "{MAIL}", k: 3) {{ nothing_{INN} }} }}', {}),
    (f'mutation {{ createToken(input: {{principal: "{MAIL}"}}) {{ token }} }}', {}),
]  # fmt: skip


class Telling(HashEmbedder):
    """An embedder that fails and repeats in its message what it was given."""

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        raise RuntimeError(f"cannot embed {texts} of {MAIL}")


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    made = OpenAIServer()
    yield made
    made.close()


@pytest.fixture
async def desk(bases: Bases, server: OpenAIServer) -> AsyncIterator[Desk]:
    """A desk with a client's personal data; `bob` writes and may not read them."""
    async with answering_desk(bases.new(), server) as desk:
        (stored,) = await desk.write({"key": "client", "title": MAIL, "content": f"Карта {CARD}.", "attributes": {"inn": INN}})
        assert stored["code"] is None
        facts = [{"subject": "client", "predicate": "inn", "value": INN, "validFrom": "2020-01-01T00:00:00Z"}]
        assert (await desk.ask(FACTS, facts=facts))["assertFacts"]["results"][0]["code"] is None
        await upsert_principals(desk.store.database, ADMIN, [PrincipalInput("bob", "USER")])
        await grant(desk.store.database, ADMIN, "bob", DOCS, "WRITER")
        yield desk


async def test_no_line_of_the_log_repeats_what_was_sent(desk: Desk, server: OpenAIServer, log_text: Callable[[], str]) -> None:
    token, refused = await desk.token("bob"), 0
    for query, variables in SENT:
        response = await desk.send(query, token, **variables)
        refused += "code" in response.text
    echoed = json.dumps({"error": {"message": f"{MAIL} {CARD} is not allowed", "code": INN}}).encode()
    for faults in (
        Faults(status=400, body=echoed),
        Faults(status=500, body=echoed),
        Faults(body=echoed),
        Faults(body=echoed[:20]),
    ):
        server.faults = faults
        said = (await desk.send(SEARCH, token, q=f"карта {CARD} зебра")).text
        assert [secret for secret in SECRETS if secret in said] == []
    desk.store.embedder = Telling()
    said = (await desk.send(SEARCH, token, q=f"карта {CARD} зебра")).text
    assert [secret for secret in SECRETS if secret in said] == []
    await odd_requests(desk.client, token)
    lines = "\n".join(line for line in log_text().splitlines() if '"logger":"httpx"' not in line)  # the client of the test
    assert refused >= len(SENT) - 3
    assert lines.count('"event":"operation"') > len(SENT)
    assert [secret for secret in SECRETS if secret in lines] == []


async def odd_requests(client: httpx.AsyncClient, token: str) -> None:
    """Requests that come no further than the edge."""
    signed = f"Bearer {token}"
    for headers in (
        {"Authorization": f"Bearer {MAIL}"},
        {"Authorization": MAIL},
        {"Authorization": signed, "X-On-Behalf-Of": MAIL},
    ):
        await client.post("/graphql", json={"query": "{ me { name } }"}, headers=headers)
    await client.post("/graphql", content=f'{{"query": "{MAIL}'.encode(), headers={"Content-Type": "application/json"})
    await client.get(f"/{MAIL}?inn={INN}")
    await client.get("/graphql", params={"query": f'{{ search(question: "{MAIL} {CARD}" }}', "variables": INN})


async def test_no_error_quotes_what_is_stored(desk: Desk) -> None:
    token = await desk.token("bob")
    for query, variables in (
        (FACTS, {"facts": [{"subject": "client", "predicate": "inn", "value": "1", "validFrom": "2020-01-01T00:00:00Z"}] * 2}),
        (FACTS, {"facts": [{"subject": "client", "predicate": "inn", "value": {"a": 1}, "supersedes": ["nothing"]}]}),
        (SOURCES, {"sources": [{"key": "client", "content": "\0"}, {"key": "client", "content": "a", "kind": "NONE"}]}),
        ('mutation { deleteSources(input: {namespace: "docs", keys: ["client", "none"]}) { results { code message } } }', {}),
        ('{ entity(namespace: "docs", key: "client") { attributes(asOf: "x") facts(first: -1) { nodes { value } } } }', {}),
        ('{ aggregate(metric: ENTITIES, dimensions: [STATUS, STATUS]) { buckets { count } } }', {}),
    ):  # fmt: skip
        said = (await desk.send(query, token, **variables)).text
        assert [secret for secret in SECRETS if secret in said] == [], said
