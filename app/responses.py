"""JSON out: bytes that any client can read, whatever a resolver returned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.responses import Response

from schema.errors import coded, json_safe

JSON = "application/json"


def encode(data: Any) -> bytes:
    """Encode as JSON; non-finite numbers become null, and what the fast encoder refuses is made safe first."""
    try:
        return orjson.dumps(data)
    except TypeError:
        return orjson.dumps(json_safe(data))


def error_response(
    status: int, message: str, code: str, media_type: str = JSON, headers: Mapping[str, str] | None = None
) -> Response:
    """An error made outside of GraphQL, in the shape of a GraphQL error."""
    body = encode({"errors": [coded(message, code).formatted]})
    return Response(body, status, {"Cache-Control": "no-store", **(headers or {})}, f"{media_type}; charset=utf-8")
