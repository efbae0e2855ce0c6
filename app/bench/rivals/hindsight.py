"""Hindsight over HTTP, without any model: its `low` recall with the arms switched off that plain documents cannot use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from app.bench.rivals.contestant import Contestant
from app.bench.rivals.environment import environment
from app.bench.rivals.exchange import Exchange, group_of, whole_text
from app.bench.rivals.scratch import PLAIN, scratch_postgres
from app.bench.servers import started

PROGRAM = Path(__file__).parent / "workers" / "hindsight_server.py"
BANK = "/v1/default/banks/bench"
BATCH = 50
K = 10
SETTINGS = {
    "HINDSIGHT_API_HOST": "127.0.0.1",
    "HINDSIGHT_API_LLM_PROVIDER": "none",
    "HINDSIGHT_API_RERANKER_PROVIDER": "rrf",
    "HINDSIGHT_API_TEXT_SEARCH_EXTENSION": "native",
    "HINDSIGHT_API_TEXT_SEARCH_EXTENSION_NATIVE_LANGUAGE": "russian",
    "HINDSIGHT_API_RETAIN_CHUNK_SIZE": "8000",
    "HINDSIGHT_API_ENABLE_GRAPH_RETRIEVAL": "false",
    "HINDSIGHT_API_ENABLE_TEMPORAL_RETRIEVAL": "false",
}
"""As it comes but for these: no model, Russian stems, one document one unit, no arms for links and dates."""


@asynccontextmanager
async def hindsight(exchange: Exchange, folder: Path) -> AsyncIterator[Contestant]:
    """Start its server, let it retain the set, tidy up."""
    python = await environment("hindsight")
    async with scratch_postgres(folder / "hindsight", PLAIN) as postgres:
        settings = {**SETTINGS, "HINDSIGHT_API_DATABASE_URL": postgres.url, "BENCH_EXCHANGE": str(folder)}
        arguments = ["-P", str(PROGRAM)]
        async with started(arguments, settings, "HINDSIGHT_API_PORT", python=python, ready="/health") as served:

            async def ask(places: Sequence[int]) -> list[list[str]]:
                return [await recall(served.client, exchange, place) for place in places]

            await retain(served.client, exchange)
            await postgres.tidy()
            yield Contestant("hindsight", served.process.pid, postgres.postmaster, ask)


async def retain(client: httpx.AsyncClient, exchange: Exchange) -> None:
    """Give it the documents, the group of each as its tag."""
    await post(client, "PUT", BANK, {})
    documents = exchange.collection.documents
    for start in range(0, len(documents), BATCH):
        items = [
            {"content": whole_text(one), "document_id": one.id, "timestamp": "unset", "tags": [group_of(one)]}
            for one in documents[start : start + BATCH]
        ]
        await post(client, "POST", f"{BANK}/memories", {"items": items})


async def recall(client: httpx.AsyncClient, exchange: Exchange, place: int) -> list[str]:
    """The first ten documents; it has no limit but that of tokens."""
    query = exchange.collection.queries[place]
    asked = {
        "query": query.text, "budget": "low", "max_tokens": 4096, "include": {"entities": None},
        "tags": [group_of(query)], "tags_match": "any_strict",
    }  # fmt: skip
    answer = await post(client, "POST", f"{BANK}/memories/recall", asked)
    return list(dict.fromkeys(one["document_id"] for one in answer["results"]))[:K]


async def post(client: httpx.AsyncClient, method: str, path: str, body: dict[str, Any]) -> Any:
    """The JSON answer; raises when it is none."""
    reply = await client.request(method, path, json=body)
    if reply.status_code != 200:
        raise RuntimeError(f"Hindsight answered {reply.status_code}: {reply.text[:500]}")
    return reply.json()
