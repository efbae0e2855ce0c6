"""Reads the GraphQL operation out of an HTTP request, refusing what is malformed or too large as the bytes come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson
from starlette.requests import Request

MAX_NESTING = 80  # the caller's state of a pack may have 64 levels
BAD_INPUT = "BAD_INPUT"
LIMIT_EXCEEDED = "LIMIT_EXCEEDED"


@dataclass(frozen=True)
class Operation:
    """What a client asks to run."""

    query: str
    variables: dict[str, Any]
    name: str | None


class Refused(Exception):
    """A request that is answered with an HTTP status before GraphQL sees it."""

    def __init__(self, status: int, message: str, code: str = BAD_INPUT) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code


class ClientGone(Exception):
    """The client closed the connection; nobody reads an answer."""


async def read_operation(request: Request, body_limit: int) -> Operation:
    """Read the operation of a GET's query string or a POST's JSON body."""
    if request.method == "GET":
        return _from_query_string(request)
    _require_json(request.headers.get("content-type", ""))
    return operation_of(_decoded(await _body(request, body_limit), "The body"))


def operation_of(payload: Any) -> Operation:
    """Check the shape of `{query, variables, operationName}`, with values left out or null where they may be."""
    if isinstance(payload, list):
        raise Refused(400, "Batches are not accepted; send one operation in a request.")
    if not isinstance(payload, dict):
        raise Refused(400, "The body must be a JSON object with `query`.")
    query, variables = payload.get("query"), payload.get("variables")
    name = payload.get("operationName")
    if not isinstance(query, str) or not query:
        raise Refused(400, "`query` must be a text that holds a GraphQL document.")
    if variables is not None and not isinstance(variables, dict):
        raise Refused(400, "`variables` must be an object or null.")
    if name is not None and not isinstance(name, str):
        raise Refused(400, "`operationName` must be a text or null.")
    if not isinstance(payload.get("extensions"), dict | None):
        raise Refused(400, "`extensions` must be an object or null.")
    if _nested_deeper(variables, MAX_NESTING):
        raise Refused(400, f"`variables` are nested deeper than {MAX_NESTING} levels; flatten them.", LIMIT_EXCEEDED)
    return Operation(query, variables or {}, name or None)


def _from_query_string(request: Request) -> Operation:
    values: dict[str, Any] = dict(request.query_params)
    for name in ("variables", "extensions"):
        text = values.pop(name, "")
        if text:
            values[name] = _decoded(text.encode("utf-8", "replace"), f"`{name}`")
    return operation_of(values)


def _require_json(content_type: str) -> None:
    name, *parameters = (part.strip().lower() for part in content_type.split(";"))
    charset = next((part[8:].strip('"') for part in parameters if part.startswith("charset=")), "utf-8")
    if name != "application/json" or charset not in ("utf-8", "utf8"):
        raise Refused(415, "Send the operation as `Content-Type: application/json` in UTF-8.")


async def _body(request: Request, limit: int) -> bytes:
    length = request.headers.get("content-length", "")
    if length.isdigit() and len(length) < 20 and int(length) > limit:
        raise too_large(limit)
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limit:
            raise too_large(limit)
        chunks.append(chunk)
        if not message.get("more_body", False):
            return b"".join(chunks)


def too_large(limit: int) -> Refused:
    """What a body is refused with that goes over so many bytes."""
    return Refused(413, f"The body is larger than {limit:,} bytes; send it in several requests.", LIMIT_EXCEEDED)


def _decoded(data: bytes, what: str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if "depth limit" in str(error):
            raise Refused(400, f"{what} is nested too deeply; flatten it.", LIMIT_EXCEEDED) from None
        # The decoder's own words may repeat what was sent; a position is enough to find the mistake.
        raise Refused(400, f"{what} must be valid JSON in UTF-8 (see character {error.pos}).") from None


def _nested_deeper(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item if isinstance(item, list) else ())
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True
