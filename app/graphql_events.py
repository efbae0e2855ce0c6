"""GraphQL over server-sent events, a connection an operation (graphql-sse's "distinct connections mode")."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from strawberry.schema.exceptions import CannotGetOperationTypeError
from strawberry.types import ExecutionResult

from app.admission import Slot
from app.credentials import credentials_of
from app.leaving import while_connected
from app.negotiation import EVENTS
from app.operation_body import ClientGone, Operation
from app.responses import encode
from app.telemetry import OperationRecord
from schema.errors import code_of, coded, present_exception, presented

if TYPE_CHECKING:
    from app.graphql import GraphQLEndpoint

COMPLETE = b"event: complete\ndata:\n\n"
STILL_HERE = b":\n\n"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class EventStream(Response):
    """The answer to one operation: `next` for each result, then `complete`; comments in between while nothing happens.

    Whoever is not let in gets an HTTP status and JSON; once the stream has begun, errors come as results.
    """

    def __init__(self, endpoint: GraphQLEndpoint, request: Request, operation: Operation, record: OperationRecord) -> None:
        super().__init__(headers=HEADERS, media_type=EVENTS)
        del self.headers["content-length"]
        self._endpoint = endpoint
        self._request = request
        self._operation = operation
        self._record = record
        self._begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        status: int = self.status_code
        with self._endpoint.stream_slot() as slot:
            try:
                refusal = await while_connected(self._request, self._refused_or_told(send, slot), self._record)
                if refusal is not None:
                    status = refusal.status_code
                    await refusal(scope, receive, send)
            except ClientGone:
                self._record.codes.append("DISCONNECTED")
                status = 499
            finally:
                self._endpoint.telemetry.finish(self._record, status)

    async def _refused_or_told(self, send: Send, slot: Slot | None) -> Response | None:
        if slot is None:
            return self._endpoint.refused_as_busy(self._record)
        beating = asyncio.create_task(self._beat(send))
        try:
            await self._run(send, slot)
        except Exception as error:  # the session did not open, or ran out of time
            result = ExecutionResult(data=None, errors=[present_exception(error)])
            if not self._begun:
                return self._endpoint.response_to(result, self._record)
            await self._next(send, result)
        finally:
            beating.cancel()
            await asyncio.wait({beating})
        await send({"type": "http.response.body", "body": COMPLETE, "more_body": False})
        return None

    async def _run(self, send: Send, slot: Slot) -> None:
        endpoint, operation, record = self._endpoint, self._operation, self._record
        async with asyncio.timeout(endpoint.limits.seconds) as clock:

            def known(kind: str) -> None:
                # A subscription lives as long as its client wants and does not hold others up.
                if kind == "subscription":
                    clock.reschedule(None)
                    slot.leave()

            record.note.known = known
            record.begin()
            async with endpoint.open_session(credentials_of(self._request, record.request_id)) as session:
                record.belongs_to(session)
                try:
                    await self._begin(send)
                    results = await endpoint.schema.stream(
                        operation.query,
                        variable_values=operation.variables,
                        context_value=session,
                        operation_name=operation.name,
                    )
                    begun = False
                    async with aclosing(results):
                        async for result in results:
                            if not begun:
                                await endpoint.accounted(session, record, result)
                                begun = True
                            await self._next(send, result)
                finally:
                    endpoint.tell_of(session, record)

    async def _begin(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        self._begun = True
        await self._part(send, STILL_HERE)

    async def _next(self, send: Send, result: Any) -> None:
        payload = self._payload(result)
        body = encode(payload)
        if len(body) > self._endpoint.limits.answer:
            message = f"The result is larger than {self._endpoint.limits.answer:,} bytes; select less of it."
            body = encode({"data": None, "errors": [coded(message, "LIMIT_EXCEEDED").formatted]})
        await self._part(send, b"event: next\ndata: " + body + b"\n\n")

    def _payload(self, result: Any) -> dict[str, Any]:
        errors = presented(
            [
                coded("The document has no operation of that name.", "GRAPHQL_VALIDATION_FAILED")
                if isinstance(error.original_error, CannotGetOperationTypeError)
                else error
                for error in result.errors or []
            ]
        )
        self._record.codes = list(dict.fromkeys([*self._record.codes, *(code_of(error) for error in errors)]))
        payload: dict[str, Any] = {"errors": [error.formatted for error in errors]} if errors else {}
        if result.data is not None or any(error.path is not None for error in errors):
            payload["data"] = result.data
            if cost := self._record.cost():
                payload["extensions"] = cost
        return payload

    async def _beat(self, send: Send) -> None:
        """Keep what stands between from taking a silent stream for a dead one."""
        while True:
            await asyncio.sleep(self._endpoint.limits.heartbeat_seconds)
            if self._begun:
                await self._part(send, STILL_HERE)

    async def _part(self, send: Send, part: bytes) -> None:
        await send({"type": "http.response.body", "body": part, "more_body": True})
