"""GraphQL over WebSocket (graphql-transport-ws): each operation gets a session, a deadline and limits of its own."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import aclosing, suppress
from itertools import count
from typing import TYPE_CHECKING, Any, cast

from graphql import GraphQLError
from starlette.websockets import WebSocket, WebSocketState
from strawberry.http.exceptions import WebSocketDisconnected
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import BaseGraphQLTransportWSHandler, Operation
from strawberry.subscriptions.protocols.graphql_transport_ws.types import ConnectionInitMessage, Message, SubscribeMessage
from strawberry.types import ExecutionResult
from strawberry.types.execution import PreExecutionError

from app.admission import Slot
from app.credentials import credentials_of
from app.operation_body import Refused, operation_of
from app.request_id import request_id_of
from app.telemetry import OperationRecord
from schema.errors import code_of, coded, present_exception, presented
from schema.limits import is_mutation

if TYPE_CHECKING:
    from app.graphql import GraphQLEndpoint

TYPES = frozenset({"connection_init", "ping", "pong", "subscribe", "complete"})
LONGEST_REASON = 123
"""Bytes of the reason with which a socket is closed (RFC 6455, 5.5)."""


class SocketHandler(BaseGraphQLTransportWSHandler[Any, None]):
    """Serves one socket."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._endpoint = cast("GraphQLEndpoint", self.view)
        self._socket: WebSocket = self.context["socket"]
        self._numbers = count(1)
        self._records: dict[str, OperationRecord] = {}
        self._writing: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None

    async def handle_message(self, message: Message) -> None:
        """Close the socket on anything that is not a message of the protocol."""
        if not _is_message(message):
            await self.handle_invalid_message("Not a message of graphql-transport-ws")
            return
        await super().handle_message(message)

    async def handle_connection_init(self, message: ConnectionInitMessage) -> None:
        """Let a caller in who may have one more socket, and watch that the credentials go on to hold."""
        if message.get("payload", {}) is None:  # the protocol takes null as left out
            del message["payload"]
        try:
            await super().handle_connection_init(message)
        except GraphQLError as refusal:
            await self._close_surplus(refusal)
        if self.connection_acknowledged and self._watching is None:
            self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        """Close the socket when its token has ended or is revoked, though nothing happens on it."""
        holds = True
        while holds:
            left = self.context.get("ends_at", math.inf) - time.time()
            await asyncio.sleep(max(0.0, min(left, self._endpoint.limits.recheck_seconds)))
            try:
                holds = time.time() < self.context.get("ends_at", math.inf) and await self._endpoint.lets_in(self.context)
            except GraphQLError as refusal:  # whose it is could not be told before
                return await self._close_surplus(refusal)
        await self._close_ended()

    async def _close_ended(self) -> None:
        """Close the socket as one whose caller is not let in any more; clients may come again with another token."""
        await self._close(4403, "Forbidden")

    async def _close_surplus(self, refusal: GraphQLError) -> None:
        """Close the socket as one too many of its caller: clients come again later, with the same token."""
        await self._close(1013, f"{code_of(refusal)}: {refusal.message}"[:LONGEST_REASON])

    async def _close(self, code: int, reason: str) -> None:
        if WebSocketState.DISCONNECTED not in (self._socket.client_state, self._socket.application_state):
            with suppress(WebSocketDisconnected):
                await self.websocket.close(code=code, reason=reason)

    async def handle_subscribe(self, message: SubscribeMessage) -> None:
        """Start an operation unless its payload or their number is refused."""
        if self.connection_acknowledged and message["id"] not in self.operations:
            refusal = self._refusal(message)
            if refusal is not None:
                await self.send_message({"id": message["id"], "type": "error", "payload": [refusal.formatted]})
                return
        await super().handle_subscribe(message)

    def _refusal(self, message: SubscribeMessage) -> GraphQLError | None:
        most = self._endpoint.limits.socket_operations
        if len(self.operations) >= most:
            text = f"This socket runs {most} operations, the most it may; end one first or open another socket."
            return coded(text, "LIMIT_EXCEEDED")
        try:
            operation_of(message["payload"])
        except Refused as refused:
            return coded(refused.message, refused.code)
        return None

    async def run_operation(self, operation: Operation[Any, None]) -> None:
        """Run one operation to its end, in a session of its own, and write its log line."""
        record = OperationRecord(f"{request_id_of(self._socket.scope)}.{next(self._numbers)}", "websocket")
        self._records[operation.id] = record
        slot = self._endpoint.admission.enter()
        try:
            if slot is None:
                await self._fail(operation, record, coded("The server is busy; try again in a moment.", "OVERLOADED"))
            else:
                await self._run_admitted(operation, record, slot)
        except WebSocketDisconnected:
            record.codes.append("DISCONNECTED")
        except Exception as error:  # the session did not open, or ran out of time
            await self._fail(operation, record, present_exception(error))
        finally:
            if slot is not None:
                slot.leave()
            if self._records.get(operation.id) is record:
                del self._records[operation.id]
            self._endpoint.telemetry.finish(record)
        if "UNAUTHENTICATED" in record.codes:
            await self._close_ended()

    async def _run_admitted(self, operation: Operation[Any, None], record: OperationRecord, slot: Slot) -> None:
        credentials = credentials_of(self._socket, record.request_id, self.context.get("connection_params"))
        async with asyncio.timeout(self._endpoint.limits.seconds) as clock:

            def known(kind: str) -> None:
                # A subscription lives as long as its client wants and does not hold others up.
                if kind == "subscription":
                    clock.reschedule(None)
                    slot.leave()

            record.note.known = known
            record.begin()
            async with self._endpoint.open_session(credentials) as session:
                record.belongs_to(session)
                try:
                    await self._send_results(operation, record, session)
                finally:
                    self._endpoint.tell_of(session, record)
        await operation.send_operation_message({"id": operation.id, "type": "complete"})

    async def _send_results(self, operation: Operation[Any, None], record: OperationRecord, session: Any) -> None:
        results = await self.schema.stream(
            operation.query,
            variable_values=operation.variables,
            context_value=session,
            operation_name=operation.operation_name,
        )
        begun = False
        async with aclosing(results):
            async for result in results:
                assert isinstance(result, ExecutionResult)
                if not begun:
                    await self._endpoint.accounted(session, record, result)
                    begun = True
                await self._send_result(operation, record, result)

    async def _send_result(self, operation: Operation[Any, None], record: OperationRecord, result: ExecutionResult) -> None:
        errors = presented(result.errors or [])
        record.codes = list(dict.fromkeys([*record.codes, *(code_of(error) for error in errors)]))
        is_request_error = result.data is None and all(error.path is None for error in errors)
        if isinstance(result, PreExecutionError) or (errors and is_request_error):
            await operation.send_initial_errors(errors)
        else:
            await operation.send_next(ExecutionResult(result.data, errors or None, record.cost() or None))

    async def _fail(self, operation: Operation[Any, None], record: OperationRecord, error: GraphQLError) -> None:
        record.codes.append(code_of(error))
        with suppress(WebSocketDisconnected):
            await operation.send_initial_errors([error])

    async def send_message(self, message: Message) -> None:
        """Send a message, or say that nobody is there any more."""
        if WebSocketState.DISCONNECTED in (self._socket.client_state, self._socket.application_state):
            raise WebSocketDisconnected
        await super().send_message(message)

    async def cleanup_operation(self, operation_id: str) -> None:
        """Stop an operation that its client gave up; a mutation ends in silence instead."""
        record = self._records.get(operation_id)
        if record is None or not is_mutation(record.note):
            await super().cleanup_operation(operation_id)
            return
        operation = self.operations.pop(operation_id, None)
        if operation is not None and operation.task is not None:
            operation.completed = True
            self._writing.add(operation.task)
            operation.task.add_done_callback(self._writing.discard)

    async def shutdown(self) -> None:
        """End what runs on the socket, and wait for the writes that still do."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
        if (let_go := self.context.pop("let_go", None)) is not None:
            let_go()
        await super().shutdown()
        if self._writing:
            await asyncio.wait(self._writing)

    async def handle_task_exception(self, error: Exception) -> None:
        """Log by the masked path only."""
        present_exception(error)


def _is_message(message: Any) -> bool:
    if not isinstance(message, dict) or not isinstance(message.get("type"), str) or message["type"] not in TYPES:
        return False
    return message["type"] not in ("subscribe", "complete") or (
        isinstance(message.get("id"), str) and 0 < len(message["id"]) <= 200
    )
