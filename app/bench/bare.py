"""The bare route that the server is compared with: Starlette and asyncpg, the same statements, the same JSON."""

from __future__ import annotations

import os
import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.bench.recording import Statement
from retrieval.database import Database, Record
from retrieval.keys import public_id

K = 8
CONSTANT = 60


def main() -> None:
    """Serve the recorded requests of the file BENCH_RECORDED on BENCH_PORT."""
    recorded: dict[str, list[Statement]] = pickle.loads(Path(os.environ["BENCH_RECORDED"]).read_bytes())  # our own file
    app = bare_app(os.environ["BENCH_DATABASE_URL"], recorded)
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["BENCH_PORT"]), log_config=None, access_log=False)


def bare_app(url: str, recorded: dict[str, list[Statement]]) -> Starlette:
    """One route that answers recorded questions."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        database = await Database.open(url, size=4)
        app.state.pool = database.pool
        yield
        await database.close()

    async def search(request: Request) -> Response:
        asked = orjson.loads(await request.body())
        found: dict[str, list[Record]] = {}
        async with request.app.state.pool.acquire() as connection:
            for one in recorded[asked["variables"]["question"]]:
                found["both" if "+" in one.name else one.name] = await connection.fetch(one.text, *one.values)
        body = {"data": {"search": {"hits": hits(found)}}}
        return Response(orjson.dumps(body), media_type="application/json")

    async def alive(request: Request) -> Response:
        return Response()

    return Starlette(routes=[Route("/graphql", search, methods=["POST"]), Route("/healthz", alive)], lifespan=lifespan)


def hits(found: dict[str, list[Record]]) -> list[dict[str, Any]]:
    """The first eight of both lists by reciprocal ranks, with fifteen fields."""
    scores: dict[int, float] = {}
    for row in found["both"]:
        scores[row["fragment_id"]] = scores.get(row["fragment_id"], 0.0) + 1 / (CONSTANT + row["place"])
    rows = {row["fragment_id"]: row for row in found["fragments"]}
    best = sorted(scores, key=lambda id: (-scores[id], id))[:K]
    names = {space[0]: space[1] for row in found["caller"] for space in row["spaces"]}
    return [hit(rows[id], scores[id], names) for id in best]


def hit(row: Record, score: float, names: dict[int, str]) -> dict[str, Any]:
    """One hit."""
    return {
        "score": score,
        "matchedIdentifiers": [],
        "fragment": {
            "id": public_id("fragment", row["ns"], row["fragment_id"]),
            "namespace": names[row["ns"]],
            "ordinal": row["ordinal"],
            "title": row["fragment_title"],
            "heading": row["heading"],
            "text": row["text"],
            "meta": row["fragment_meta"],
            "identifiers": row["identifiers"],
        },
        "entity": {
            "key": row["key"],
            "kind": row["kind"],
            "type": row["type"],
            "title": row["title"],
            "status": row["status"],
        },
    }


if __name__ == "__main__":
    main()
