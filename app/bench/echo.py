"""The bare socket that streams are compared with: it sends back every text that comes."""

from __future__ import annotations

import os

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket


def main() -> None:
    """Serve on BENCH_PORT, on the loop and with the library for sockets that the server has."""
    config = uvicorn.Config(echo_app(), host="127.0.0.1", port=int(os.environ["BENCH_PORT"]), log_config=None, access_log=False)
    uvloop.run(uvicorn.Server(config).serve())


def echo_app() -> Starlette:
    """The application."""

    async def echo(socket: WebSocket) -> None:
        await socket.accept()
        async for text in socket.iter_text():
            await socket.send_text(text)

    async def alive(request: Request) -> Response:
        return Response()

    return Starlette(routes=[WebSocketRoute("/echo", echo), Route("/healthz", alive)])


if __name__ == "__main__":
    main()
