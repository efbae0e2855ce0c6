"""Gives every request an id, and turns whatever escapes from below into a masked answer with that id in the log."""

from __future__ import annotations

import asyncio
import re
import secrets

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.responses import error_response
from schema.errors import present_exception

HEADER = "x-request-id"
_ALLOWED = re.compile(r"[A-Za-z0-9._-]{1,64}")
_KEY = "contextql.request_id"


def request_id_of(scope: Scope) -> str:
    """The id of the request that this scope belongs to."""
    return str(scope.get(_KEY, ""))


class RequestIds:
    """Takes a well-formed X-Request-Id or makes one, binds it to the log and sends it back."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        request_id = given if _ALLOWED.fullmatch(given) else secrets.token_hex(8)
        scope[_KEY] = request_id
        started = False

        async def send_with_id(message: Message) -> None:
            nonlocal started
            if message["type"] in ("http.response.start", "websocket.accept"):
                started = True
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, send_with_id)
            except asyncio.CancelledError:  # only a server that has no more time to drain cancels a request
                if scope["type"] == "http" and not started:
                    message = "The server is shutting down; try again in a moment."
                    headers = {"Retry-After": "1", "Connection": "close"}
                    await error_response(503, message, "OVERLOADED", headers=headers)(scope, receive, send_with_id)
            except Exception as error:  # the last line: nothing unmasked reaches the server's own log
                shown = present_exception(error)
                if scope["type"] == "http" and not started:
                    await error_response(500, shown.message, "INTERNAL")(scope, receive, send_with_id)
