"""Runs the work of a request as long as somebody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar, cast

from starlette.requests import Request

from app.operation_body import ClientGone
from app.telemetry import OperationRecord
from schema.limits import is_mutation

T = TypeVar("T")


async def while_connected(request: Request, work: Coroutine[Any, Any, T], record: OperationRecord) -> T:
    """Run the work until it is done or the client goes away; a mutation runs to its end all the same."""
    running, is_gone = cast("asyncio.Task[Any]", asyncio.current_task()), False

    def leave(watching: asyncio.Task[None]) -> None:
        nonlocal is_gone
        if not watching.cancelled() and watching.exception() is None and not is_mutation(record.note):
            is_gone = True
            running.cancel()

    watching = asyncio.create_task(_disconnected(request))
    watching.add_done_callback(leave)
    try:
        return await work
    except asyncio.CancelledError:
        if is_gone and running.uncancel() == 0:
            raise ClientGone from None
        raise
    finally:
        watching.remove_done_callback(leave)
        watching.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
