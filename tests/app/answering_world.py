"""A server as it is started by its command, over a few pages of the demo corpus, with a stand-in for the chat model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.demo.corpus import LANGUAGES, TITLES, namespace_of, pages
from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principal
from retrieval.administration.tokens import create_token
from retrieval.ingest.statistics import refresh_statistics
from retrieval.ingest.write import connect_links, ingest_source
from retrieval.outcomes import Outcome
from tests.app.cli.conftest import TEMPLATE, migrate
from tests.app.cli.servers import running
from tests.app.edge_world import wait_until
from tests.fixtures.databases import TestServer
from tests.fixtures.openai_server import Call, Message, Mind, OpenAIServer
from tests.fixtures.world import opened
from tests.fixtures.writing import ADMIN, values

PAGES = {"tutorial/request-files.md", "tutorial/request-forms.md", "tutorial/request-forms-and-files.md"}
ASKER = "asker"


@dataclass
class Answering:
    """The server's URL and that of its database, a token that reads and writes, and the stand-in."""

    url: str
    database_url: str
    token: str
    model: OpenAIServer

    @property
    def call(self) -> Call:
        """The one call of the model."""
        (call,) = self.model.calls
        return call

    def wait_until_left(self) -> None:
        """Wait until the call of the model was broken off by the server, with text still to come."""
        wait_until(lambda: self.call.progress.left)
        assert not self.call.progress.ended


@contextmanager
def answering(database_server: TestServer, log: Path, **settings: str) -> Iterator[Answering]:
    """Serve until the block ends."""
    url = database_server.create(database_server.template_database(TEMPLATE, migrate))
    model = OpenAIServer()
    given = {"embedding_provider": "none", "llm_provider": "openai", "llm_model": "stand-in", "openai_base_url": model.url}
    try:
        token = asyncio.run(filled(url))
        with running(log, "serve", **given | settings, database_url=url, data_dir=str(log.parent)) as server:
            server.ready()
            yield Answering(server.url, url, token, model)
    finally:
        model.close()
        database_server.drop(url)


async def filled(url: str) -> str:
    """Store the pages, and give a token of somebody who may read and write them."""
    async with opened(url) as store:
        await upsert_principal(store.database, ADMIN, PrincipalInput(ASKER, "USER"))
        for language in LANGUAGES:
            name = namespace_of(language)
            await create_namespace(store.database, ADMIN, name, TITLES[language])
            for page in pages(language):
                if page.key in PAGES:
                    stored = await ingest_source(store.database, store.base, ADMIN, name, page)
                    assert stored.outcome is Outcome.CREATED, stored
            await grant(store.database, ADMIN, ASKER, name)
            await grant(store.database, ADMIN, ASKER, name, role="WRITER")
        for ns in await values(store, "select ns from namespace"):
            await connect_links(store.database, ns)
            await refresh_statistics(store.database, ns)
        return (await create_token(store.database, ADMIN, ASKER)).token


def cites(*parts: str | tuple[str, str]) -> Mind:
    """A mind that says texts, and behind each that comes with words of a fragment the number of that fragment."""

    def mind(messages: list[Message], tools: list[str]) -> dict[str, Any]:
        fragments = re.split(r"^## (?=\[\d+\] )", messages[-1]["content"], flags=re.MULTILINE)[1:]
        said = ""
        for part in parts:
            text, words = part if isinstance(part, tuple) else (part, None)
            said += text
            if words is not None:
                said += next(one.partition(" ")[0] for one in fragments if words in one)
        return {"content": said}

    return mind
