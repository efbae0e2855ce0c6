"""The line of an operation names the namespaces that it read or wrote, in whatever form they were written."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import AsyncIterator

import httpx
import pytest
from structlog.testing import capture_logs

from retrieval.administration.namespaces import create_namespace
from retrieval.administration.rights import local_administrator
from tests.fixtures.bases import Bases
from tests.fixtures.company import World
from tests.fixtures.random_world import random_world
from tests.fixtures.world import opened, post, served, store_world

NAME = "й:docs"
WRITTEN = unicodedata.normalize("NFD", NAME)
Place = tuple[World, httpx.AsyncClient]


@pytest.fixture
async def place(bases: Bases) -> AsyncIterator[Place]:
    """A served world with a namespace whose name has two forms."""
    url, world = bases.new(), random_world(5)
    await store_world(url, world)
    async with opened(url) as store, served(store) as client:
        await create_namespace(store.database, local_administrator(), NAME)
        yield world, client


@pytest.mark.parametrize(
    "document",
    [
        "{ search(question: \"x\", namespaces: [NS]) { question } }",
        "{ knowledge(namespaces: [NS]) { isEmpty } }",
        "{ entity(namespace: NS, key: \"a\") { key } }",
        "{ source(namespace: NS, key: \"a\") { key } }",
        "mutation { ingestSources(input: {namespace: NS, sources: []}) { pendingEmbeddings } }",
        "mutation { deleteEntity(input: {namespace: NS, key: \"a\"}) { deleted } }",
        "mutation { grant(input: {namespace: NS, principal: \"everyone\"}) { results { outcome } } }",
    ],
)  # fmt: skip
async def test_what_is_touched_is_named(place: Place, document: str) -> None:
    world, client = place
    administrator = next(one for one in world.principals if one.administrator)
    with capture_logs() as lines:
        response = await post(client, document.replace("NS", json.dumps(WRITTEN)), administrator.token)
    assert "errors" not in response.json()
    (line,) = (line for line in lines if line["event"] == "operation")
    assert [unicodedata.normalize("NFC", name) for name in line["namespaces"]] == [NAME]


async def test_what_is_closed_to_the_caller_is_not_named(place: Place) -> None:
    world, client = place
    with capture_logs() as lines:
        response = await post(client, '{ knowledge(namespaces: ["nowhere"]) { isEmpty } }', world.named("user1").token)
    assert "NAMESPACE_NOT_FOUND" in response.text
    (line,) = (line for line in lines if line["event"] == "operation")
    assert line["namespaces"] == []
