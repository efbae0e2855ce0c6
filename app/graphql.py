"""The GraphQL endpoint over HTTP: runs each operation in a session of its own and answers in the type asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

import orjson
from graphql import GraphQLError
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL
from strawberry.exceptions import ConnectionRejectionError, MissingQueryError
from strawberry.schema.base import BaseSchema
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError
from strawberry.subscriptions import GRAPHQL_TRANSPORT_WS_PROTOCOL
from strawberry.types import ExecutionResult
from strawberry.types.graphql import OperationType
from strawberry.types.unset import UNSET, UnsetType

from app.admission import Admission, Slot
from app.credentials import Credentials, credentials_of
from app.graphql_events import EventStream
from app.graphql_socket import SocketHandler
from app.leaving import while_connected
from app.negotiation import EVENTS, GRAPHQL, JSON, EventsWish, answer_type, events_wish, wants_page
from app.operation_body import ClientGone, Operation, Refused, read_operation
from app.request_id import request_id_of
from app.responses import encode, error_response
from app.telemetry import OperationRecord, Telemetry
from retrieval.errors import Forbidden, Unauthenticated
from schema.errors import DEADLINE_MESSAGE, code_of, coded, present_exception, presented
from schema.limits import RequestLimits, kind_of

OpenSession = Callable[[Credentials], AbstractAsyncContextManager[Any]]
Schema = BaseSchema
Describe = Callable[[Any], Mapping[str, Any]]
Account = Callable[[Any, str], Awaitable[None]]
"""Notes that a session reads, by the type of its operation, before anything leaves; what cannot be noted is not answered."""
HoldSocket = Callable[[Any], Awaitable[Callable[[], None]]]
"""Counts an open socket of a session's caller, until what it gives is called; raises a refusal."""
# Codes that say something about the request as a whole; HTTP clients and proxies understand these statuses.
STATUSES = {
    "UNAUTHENTICATED": 401,
    "FORBIDDEN": 403,
    "OVERLOADED": 503,
    "DATABASE_UNAVAILABLE": 503,
    "PROVIDER_UNAVAILABLE": 503,
    "INTERNAL": 500,
}
BUSY = "The server is busy; try again in a moment."
EXTRA_HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "1"}}
TOO_MANY = 429
"""For one principal that asks too much, while the server has room for others: 503 would let a load balancer take it out."""


@dataclass(frozen=True)
class EdgeLimits:
    """What one request, one socket and one process may take."""

    seconds: float = 60.0
    body: int = 16 * 1024 * 1024
    answer: int = 64 * 1024 * 1024
    socket_operations: int = 20
    sockets: int = 500
    streams: int = 500
    init_seconds: float = 10.0
    heartbeat_seconds: float = 12.0
    recheck_seconds: float = 15.0


DEFAULT_LIMITS = EdgeLimits()


async def no_account(session: Any, kind: str) -> None:
    """Nothing is noted."""


async def no_bound(session: Any) -> Callable[[], None]:
    """Sockets are not counted."""
    return lambda: None


class GraphQLEndpoint(GraphQL[Any, None]):
    """Answers POST and GET (queries only) with JSON or server-sent events, and graphql-transport-ws sockets."""

    graphql_transport_ws_handler_class = SocketHandler

    def __init__(
        self,
        schema: BaseSchema,
        open_session: OpenSession,
        *,
        telemetry: Telemetry,
        admission: Admission,
        limits: EdgeLimits = DEFAULT_LIMITS,
        page: Callable[[], Response] | None = None,
        describe: Describe = lambda session: {},
        account: Account = no_account,
        hold_socket: HoldSocket = no_bound,
    ) -> None:
        super().__init__(
            schema,
            graphql_ide=None,
            subscription_protocols=[GRAPHQL_TRANSPORT_WS_PROTOCOL],
            connection_init_wait_timeout=timedelta(seconds=limits.init_seconds),
            max_subscriptions_per_connection=limits.socket_operations,
            allowed_origins=["*"],  # OriginGuard stands in front
        )
        self.open_session = open_session
        self.telemetry = telemetry
        self.admission = admission
        self.limits = limits
        self.describe = describe
        self._account = account
        self._hold_socket = hold_socket
        self._page = page
        self._sockets = 0
        self._streams = 0
        self._request_limits = getattr(schema, "limits", RequestLimits())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._serve_socket(WebSocket(scope, receive, send))
            return
        request = Request(scope, receive)
        if self._page is not None and request.method in ("GET", "HEAD") and wants_page(request.headers.get("accept")):
            await self._page()(scope, receive, send)
            return
        record = OperationRecord(request_id_of(scope), "http", carrier=carrier_of(request))
        response = await self._answer(request, record)
        if not isinstance(response, EventStream):  # which has only begun
            self.telemetry.finish(record, response.status_code if response else 499)
        if response is not None:
            response.headers["Vary"] = "Accept, Origin"
            response.headers["X-Content-Type-Options"] = "nosniff"
            await response(scope, receive, send)

    async def _answer(self, request: Request, record: OperationRecord) -> Response | None:
        """Answer one request, or None when nobody is there to read."""
        accept = request.headers.get("accept")
        media_type = answer_type(accept)
        try:
            if request.method not in ("GET", "POST"):
                raise Refused(405, "GraphQL is served by GET and POST.")
            wish = events_wish(accept)
            if media_type is None and wish is EventsWish.NONE:
                raise Refused(406, f"Answers are {JSON}, {GRAPHQL} or {EVENTS}; name one of them in Accept.")
            return await self._admitted(request, record, media_type or JSON, wish)
        except ClientGone:
            return None
        except Refused as refusal:
            record.codes.append(refusal.code)
            headers = {"Allow": "GET, POST"} if refusal.status == 405 else EXTRA_HEADERS.get(refusal.status)
            return error_response(refusal.status, refusal.message, refusal.code, media_type or JSON, headers)

    async def _admitted(self, request: Request, record: OperationRecord, media_type: str, wish: EventsWish) -> Response:
        slot = self.admission.enter()
        if slot is None:
            raise Refused(503, BUSY, "OVERLOADED")
        try:
            async with asyncio.timeout(self.limits.seconds):
                operation = await read_operation(request, self.limits.body)
                if self._in_events(request.method, operation, wish):
                    return EventStream(self, request, operation, record)
                record.begin()
                result = await while_connected(request, self._run(request, operation, record), record)
        except TimeoutError:
            result = _request_error(coded(DEADLINE_MESSAGE, "DEADLINE_EXCEEDED"))
        finally:
            slot.leave()
        return self._response(result, record, media_type)

    def _in_events(self, method: str, operation: Operation, wish: EventsWish) -> bool:
        """Whether an operation is answered in events: where those are preferred, a subscription where they are taken at all."""
        if wish is EventsWish.NONE or (wish is EventsWish.TAKEN and "subscription" not in operation.query):
            return False
        kind = kind_of(operation.query, operation.name, self._request_limits)
        if method == "GET" and kind in ("mutation", "subscription"):
            raise Refused(405, "Only queries are served by GET; send this one by POST.")
        return wish is EventsWish.PREFERRED or kind == "subscription"

    @contextmanager
    def stream_slot(self) -> Iterator[Slot | None]:
        """Room for one more stream of events and its operation, or None when there is none."""
        slot = self.admission.enter() if self._streams < self.limits.streams else None
        self._streams += 1
        try:
            yield slot
        finally:
            self._streams -= 1
            if slot is not None:
                slot.leave()

    def refused_as_busy(self, record: OperationRecord) -> Response:
        """What a stream is answered for which there is no room."""
        return self.response_to(_request_error(coded(BUSY, "OVERLOADED")), record)

    def response_to(self, result: ExecutionResult, record: OperationRecord) -> Response:
        """A result as JSON, for clients that wanted events and are not let in."""
        return self._response(result, record, JSON)

    async def _run(self, request: Request, operation: Operation, record: OperationRecord) -> ExecutionResult:
        allowed = {OperationType.QUERY} if request.method == "GET" else {OperationType.QUERY, OperationType.MUTATION}
        try:
            async with self.open_session(credentials_of(request, record.request_id)) as session:
                record.belongs_to(session)
                try:
                    result = await self.schema.execute(
                        operation.query,
                        variable_values=operation.variables,
                        context_value=session,
                        operation_name=operation.name,
                        allowed_operation_types=allowed,
                    )
                    await self.accounted(session, record, result)
                    return result
                finally:
                    self.tell_of(session, record)
        except InvalidOperationTypeError as error:
            raise _not_by_http(error, request.method) from None
        except (CannotGetOperationTypeError, MissingQueryError):
            message = "The document has no operation of that name." if operation.name else "The document has no operation."
            return _request_error(coded(message, "GRAPHQL_VALIDATION_FAILED"))
        except Exception as error:  # a session that does not open
            return _request_error(present_exception(error))

    def _response(self, result: ExecutionResult, record: OperationRecord, media_type: str) -> Response:
        errors = presented(result.errors or [])
        record.codes.extend(dict.fromkeys(code_of(error) for error in errors))
        is_request_error = result.data is None and all(error.path is None for error in errors)
        payload: dict[str, Any] = {}
        if errors:
            payload["errors"] = [error.formatted for error in errors]
        if not is_request_error:
            payload["data"] = result.data
            if cost := record.cost():
                payload["extensions"] = cost
        body = encode(payload)
        if len(body) > self.limits.answer:
            message = f"The answer is larger than {self.limits.answer:,} bytes; select less of it."
            record.codes.append("LIMIT_EXCEEDED")
            return error_response(_status(media_type, 400), message, "LIMIT_EXCEEDED", media_type)
        status = _request_status(errors, media_type) if is_request_error else 200
        headers = {"Cache-Control": "no-store", **EXTRA_HEADERS.get(status, {})}
        if status == TOO_MANY:
            headers["Retry-After"] = str(retry_after(errors[0]))
        return Response(body, status, headers, f"{media_type}; charset=utf-8")

    async def accounted(self, session: Any, record: OperationRecord, result: Any) -> None:
        """Have it noted what was read, before the first result leaves; a document that was refused read nothing."""
        if result.data is not None or any(error.path for error in result.errors or ()):
            await self._account(session, record.note.kind)

    def tell_of(self, session: Any, record: OperationRecord) -> None:
        """Put into a record what its session was asked by whom, and did."""
        record.details = self.describe(session)
        self.telemetry.stages_of(record, session)

    async def _serve_socket(self, socket: WebSocket) -> None:
        if self._sockets >= self.limits.sockets:
            # Refusing before accepting makes the server answer the handshake with 403.
            await socket.close(code=1013, reason="The server holds as many sockets as it may")
            return
        self._sockets += 1
        self.telemetry.sockets.set(self._sockets)
        try:
            await self.run(socket)
        finally:
            self._sockets -= 1
            self.telemetry.sockets.set(self._sockets)

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> Any:
        """A socket's own state, for its handshake only: every operation opens a session of its own."""
        return {"socket": request}

    async def on_ws_connect(self, context: Any) -> UnsetType | dict[str, object] | None:
        """Close a socket whose credentials do not hold; other failures are told by the operations."""
        if not await self.lets_in(context):
            raise ConnectionRejectionError
        return cast(UnsetType, UNSET)

    async def lets_in(self, context: Any) -> bool:
        """Whether the credentials of a socket hold now; when that cannot be told, they are not said to have ended.

        Raises a refusal when their caller has as many sockets open as it may.
        """
        socket: WebSocket = context["socket"]
        credentials = credentials_of(socket, request_id_of(socket.scope), context.get("connection_params"))
        try:
            async with asyncio.timeout(self.limits.init_seconds), self.open_session(credentials) as session:
                ends_at = getattr(session, "ends_at", None)
                if ends_at is not None:
                    context["ends_at"] = ends_at
                if "let_go" not in context:
                    context["let_go"] = await self._hold_socket(session)
        except (Unauthenticated, Forbidden):
            return False
        except GraphQLError:
            raise
        except Exception as error:
            present_exception(error)
        return True

    def decode_json(self, data: str | bytes) -> object:
        """Read one socket message."""
        return orjson.loads(data)

    def encode_json(self, data: object) -> str:
        """Write one socket message; graphql-transport-ws speaks text frames."""
        return encode(data).decode()


def carrier_of(connection: HTTPConnection) -> dict[str, str]:
    """The headers by which a client says which of its spans a request belongs to."""
    return {name: value for name in ("traceparent", "tracestate") if (value := connection.headers.get(name)) is not None}


def retry_after(error: GraphQLError) -> int | None:
    """The seconds after which one principal that asked too much may come again; None for any other error."""
    return (error.extensions or {}).get("retryAfter")


def _not_by_http(error: InvalidOperationTypeError, method: str) -> Refused:
    if error.operation_type is OperationType.SUBSCRIPTION:
        return Refused(
            400, f"Subscriptions are served over WebSocket (graphql-transport-ws), and by POST with `Accept: {EVENTS}`."
        )
    return Refused(405 if method == "GET" else 400, "Only queries are served by GET; send this one by POST.")


def _request_error(error: GraphQLError) -> ExecutionResult:
    return ExecutionResult(data=None, errors=[error])


def _request_status(errors: Sequence[GraphQLError], media_type: str) -> int:
    code = code_of(errors[0]) if errors else "INTERNAL"
    if code == "DEADLINE_EXCEEDED":
        return _status(media_type, 504)
    if code == "OVERLOADED" and retry_after(errors[0]) is not None:
        return TOO_MANY
    return STATUSES.get(code) or _status(media_type, 400)


def _status(media_type: str, status: int) -> int:
    """With plain JSON a well-formed request is answered 200 whatever became of it (GraphQL over HTTP 6.4.1)."""
    return status if media_type == GRAPHQL else 200
