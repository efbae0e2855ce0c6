"""Says whether the process is alive, and whether it can answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import Response

from app.lifecycle import Drain
from app.responses import JSON, encode
from schema.errors import present_exception

# Gives the reasons why the server cannot answer; none when it can.
Ready = Callable[[], Awaitable[Sequence[str]]]


class Health:
    """The two endpoints; `/readyz` is 503 with its reasons while draining, while `ready` has any, or when it hangs."""

    def __init__(self, ready: Ready, drain: Drain, seconds: float = 5.0) -> None:
        self._ready = ready
        self._drain = drain
        self._seconds = seconds

    async def healthz(self, request: Request) -> Response:
        """Answer 200 as long as the event loop turns."""
        return _answer(200, {"status": "alive"})

    async def readyz(self, request: Request) -> Response:
        """Answer 200 when requests are served, 503 with `reasons` when not."""
        reasons = await self._reasons()
        return _answer(503 if reasons else 200, {"ready": not reasons, "reasons": reasons})

    async def _reasons(self) -> list[str]:
        if self._drain.begun:
            return ["the server is shutting down"]
        try:
            async with asyncio.timeout(self._seconds):
                return list(await self._ready())
        except TimeoutError:
            return [f"the check did not end within {self._seconds:g} s"]
        except Exception as error:
            return [present_exception(error).message]


def _answer(status: int, content: object) -> Response:
    return Response(encode(content), status, {"Cache-Control": "no-store"}, JSON)
