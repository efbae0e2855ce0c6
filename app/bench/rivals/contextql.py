"""Our side: `contextql serve` over HTTP, asked by a reader whose right comes from a group inside a group."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app.bench.rivals.contestant import Contestant
from app.bench.rivals.exchange import Exchange, group_of
from app.bench.rivals.scratch import scratch_postgres
from app.bench.servers import Served, served_with, started
from app.config import Settings
from retrieval.administration.grants import grant
from retrieval.administration.members import set_members
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.administration.rights import local_administrator
from retrieval.administration.tokens import create_token
from retrieval.database import Database
from retrieval.ingest.bulk import Prepared, load, refresh_plans
from retrieval.ingest.statistics import refresh_statistics
from retrieval.migrations import prepare

HITS = """query($question: String!, $namespaces: [String!]) { search(question: $question, namespaces: $namespaces, k: 10) {
    hits { score fragment { heading text } entity { key title } } } }"""
DEGRADED = """query($question: String!, $namespaces: [String!]) { search(question: $question, namespaces: $namespaces) {
    hits { score } degraded { code message } } }"""
MODEL = "given"
READER, INNER, OUTER = "reader", "team", "company"


@asynccontextmanager
async def contextql(exchange: Exchange, folder: Path) -> AsyncIterator[Contestant]:
    """Load the set, serve it, and let the server remember the vector of each question; a group is a namespace."""
    async with scratch_postgres(folder / "contextql") as postgres:
        token = await fill(postgres.url, exchange)
        given = started(["-m", "app.bench.rivals.given_vectors"], {"BENCH_EXCHANGE": str(folder)}, "BENCH_PORT")
        async with given as vectors:
            environment = {
                "CB_DATABASE_URL": postgres.url,
                "CB_DATA_DIR": str(folder),
                "CB_EMBEDDING_PROVIDER": "openai",
                "CB_OPENAI_BASE_URL": f"{vectors.address}/v1",
                "CB_EMBEDDING_MODEL": MODEL,
                "CB_EMBEDDING_DIMENSIONS": str(exchange.questions.shape[1]),
            }
            async with served_with(environment) as served:
                served.client.headers["Authorization"] = f"Bearer {token}"

                async def ask(places: Sequence[int]) -> list[list[str]]:
                    return [keys_of(await served.ask(HITS, **variables(exchange, place))) for place in places]

                await remember(served, exchange)
                yield Contestant("contextql", served.process.pid, postgres.postmaster, ask)


async def remember(served: Served, exchange: Exchange) -> None:
    """Ask every question once; raises when one had to do without its vector."""
    for place in range(len(exchange.collection.queries)):
        answer: Any = await served.ask(DEGRADED, **variables(exchange, place))
        if answer["data"]["search"]["degraded"]:
            raise RuntimeError(f"a question went without its vector: {answer['data']['search']['degraded']}")


def variables(exchange: Exchange, place: int) -> dict[str, Any]:
    """The variables of one question."""
    query = exchange.collection.queries[place]
    return {"question": query.text, "namespaces": [group_of(query)]}


def keys_of(answer: Any) -> list[str]:
    """The documents of an answer."""
    return [hit["entity"]["key"] for hit in answer["data"]["search"]["hits"]]


async def fill(url: str, exchange: Exchange) -> str:
    """Store the documents with their vectors and a reader's rights; gives the reader's token."""
    config = Settings.model_fields["fts_config"].default
    await prepare(url, search_config=config, embedding_model=MODEL, dimensions=exchange.documents.shape[1])
    database, admin = await Database.open(url, size=2), local_administrator()
    try:
        people = [PrincipalInput(READER, "USER"), PrincipalInput(INNER, "GROUP"), PrincipalInput(OUTER, "GROUP")]
        await upsert_principals(database, admin, people)
        await set_members(database, admin, INNER, [READER])
        await set_members(database, admin, OUTER, [INNER])
        for group in exchange.groups():
            namespace = await create_namespace(database, admin, group)
            await grant(database, admin, OUTER, group)
            rows = zip(exchange.collection.documents, exchange.documents, strict=True)
            of_group = [Prepared(one.id, one.title, one.text, "{}", row) for one, row in rows if group_of(one) == group]
            async for _ in load(database, namespace.ns, of_group):
                pass
            await refresh_statistics(database, namespace.ns)
        await refresh_plans(database)
        return (await create_token(database, admin, READER)).token
    finally:
        await database.close()
