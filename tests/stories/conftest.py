"""A desk of each test: an own base with the namespace `docs`, behind the real server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.fixtures.bases import Bases
from tests.fixtures.databases import TestServer
from tests.fixtures.desk import Desk, desk_at, with_namespace
from tests.fixtures.openai_server import OpenAIServer


@pytest.fixture
async def desk(base_url: str) -> AsyncIterator[Desk]:
    """An empty namespace `docs`, its server, and a client who is the administrator."""
    async with desk_at(base_url) as desk:
        yield await with_namespace(desk)


@pytest.fixture(scope="module")
def shared_bases(database_server: TestServer) -> Iterator[Bases]:
    """Databases of one module, for tests that only read."""
    made = Bases(database_server)
    yield made
    made.drop()


@pytest.fixture
def bases(database_server: TestServer) -> Iterator[Bases]:
    """Databases of one test, such as clones of one that its module has filled."""
    made = Bases(database_server)
    yield made
    made.drop()


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    """A chat provider of one module, for its tests to tell what to answer."""
    made = OpenAIServer()
    yield made
    made.close()
