"""A provider of vectors that knows those of the set: `contextql serve` asks it once a question and remembers the answer."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from retrieval.text import strict


def main() -> None:
    """Serve the vectors of the folder BENCH_EXCHANGE by OpenAI's protocol on BENCH_PORT."""
    app = provider(Path(os.environ["BENCH_EXCHANGE"]))
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["BENCH_PORT"]), log_config=None, access_log=False)


def provider(folder: Path) -> Starlette:
    """The application; a text that is no question of the set is refused."""
    questions = orjson.loads((folder / "set.json").read_bytes())["questions"]
    rows = np.load(folder / "questions.npy", allow_pickle=False)
    vectors = {strict(question["text"]): row.tolist() for question, row in zip(questions, rows, strict=True)}

    async def embeddings(request: Request) -> Response:
        asked = orjson.loads(await request.body())
        if not all(text in vectors for text in asked["input"]):
            return Response(orjson.dumps({"error": {"message": "not a question of the set"}}), 400)
        data = [{"object": "embedding", "index": at, "embedding": vectors[text]} for at, text in enumerate(asked["input"])]
        body = {"object": "list", "model": asked["model"], "data": data}
        return Response(orjson.dumps(body), media_type="application/json")

    async def alive(request: Request) -> Response:
        return Response()

    return Starlette(routes=[Route("/v1/embeddings", embeddings, methods=["POST"]), Route("/healthz", alive)])


if __name__ == "__main__":
    main()
