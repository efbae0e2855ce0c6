"""Who seems to be asking: what a request or a socket brings to prove it, before anything is looked up."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from retrieval.administration.names import check_principal
from retrieval.errors import BadInput

ON_BEHALF_OF = "x-on-behalf-of"
REMEMBERED = 64
"""Hosts of which a process remembers what they are; clients of one server name few."""


@dataclass(frozen=True)
class Credentials:
    """The bearer header as it came, whether the caller sits on this machine unproxied, the id in the log, for whom it asks."""

    authorization: str | None
    local: bool
    request_id: str
    acts_for: str | None = None
    """The user named by `X-On-Behalf-Of`, empty when the name cannot be one; None without that header."""


def credentials_of(connection: HTTPConnection, request_id: str, connection_init: Mapping[str, Any] | None = None) -> Credentials:
    """Read credentials from the headers; those of a socket's `connection_init` payload go first."""
    return Credentials(
        authorization=_authorization(connection, connection_init or {}),
        local=is_local(connection),
        request_id=request_id,
        acts_for=_acts_for(connection, connection_init or {}),
    )


def is_local(connection: HTTPConnection) -> bool:
    """Whether peer, Host and Origin are all loopback, no proxy forwarded it and no foreign page caused it."""
    headers = connection.headers
    if any(name == "forwarded" or name.startswith("x-forwarded-") for name in headers):
        return False
    if headers.get("sec-fetch-site") == "cross-site":
        return False
    origin = headers.get("origin")
    return (
        connection.client is not None
        and is_loopback(connection.client.host)
        and is_loopback(host_name(headers.get("host", "")))
        and (origin is None or is_loopback(host_name(origin.partition("://")[2])))
    )


@lru_cache(maxsize=REMEMBERED)
def is_loopback(name: str) -> bool:
    """Whether a host name or address means this machine."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=REMEMBERED)
def host_name(host: str) -> str:
    """The name in a Host header, without port and brackets, or an empty text when it is malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _acts_for(connection: HTTPConnection, payload: Mapping[str, Any]) -> str | None:
    """What is given twice, or is no name, must not fall back to the rights of the service: it is nobody's name.

    So is a name in the payload of a socket beside another in its header, which a proxy may have set.
    """
    given: list[object] = [value for name, value in payload.items() if name.lower() == ON_BEHALF_OF]
    headers = [_as_utf8(value) for value in connection.headers.getlist(ON_BEHALF_OF)]
    if given != headers:
        given += headers
    if not given:
        return None
    try:
        return check_principal(given[0]) if len(given) == 1 and isinstance(given[0], str) else ""
    except BadInput:
        return ""


def _as_utf8(value: str) -> str:
    """A header that holds more than ASCII is sent as UTF-8 and was read byte by byte."""
    try:
        return value.encode("latin-1").decode()
    except ValueError:
        return ""


def _authorization(connection: HTTPConnection, payload: Mapping[str, Any]) -> str | None:
    """What is given twice, or is no text, is no token, and must not fall back to the rights of whoever sends none."""
    given: list[object] = [value for name, value in payload.items() if name.lower() == "authorization" and value is not None]
    given = given or list(connection.headers.getlist("authorization"))
    if not given:
        return None
    return given[0] if len(given) == 1 and isinstance(given[0], str) else ""
