"""Takes from trusted proxies which client, scheme and host a request was made by and for."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

MOST_HOPS = 20
PAIR = re.compile(r'\s*(for|proto|host)\s*=\s*(?:"([^"\\]*)"|([^\s;,"]+))\s*', re.IGNORECASE)
HOST = re.compile(r"[A-Za-z0-9._\[\]:-]{1,255}")
SCHEMES = {"http": ("http", "ws"), "https": ("https", "wss"), "ws": ("http", "ws"), "wss": ("https", "wss")}


@dataclass(frozen=True, slots=True)
class Hop:
    """What one proxy says of the request that it got; None where it says nothing."""

    client: str | None = None
    scheme: str | None = None
    host: str | None = None


class TrustedProxies:
    """Rewrites client, scheme and Host of requests that come through the listed networks; others pass as they are.

    The headers stay, so that nobody who came through a proxy is taken for a caller on this machine.
    """

    def __init__(self, app: ASGIApp, networks: Sequence[str]) -> None:
        self._app = app
        self._networks = tuple(ipaddress.ip_network(one) for one in networks)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and scope.get("client") and self._trusts(scope["client"][0]):
            scope = rewritten(scope, self._believed(scope["client"][0], hops(Headers(scope=scope))))
        await self._app(scope, receive, send)

    def _believed(self, peer: str, told: Sequence[Hop]) -> Hop:
        """What the first proxy of an unbroken chain of trusted ones says; the last hop is what our peer got."""
        found = Hop()
        for hop in reversed(told[-MOST_HOPS:]):
            if not self._trusts(peer):
                break
            found = Hop(hop.client, hop.scheme or found.scheme, hop.host or found.host)
            peer = hop.client or ""
        return found

    def _trusts(self, address: str) -> bool:
        try:
            known = ipaddress.ip_address(address)
        except ValueError:
            return False
        known = getattr(known, "ipv4_mapped", None) or known
        return any(known in network for network in self._networks)


def hops(headers: Headers) -> list[Hop]:
    """What each proxy said, the nearest last; `X-Forwarded-*` count where both kinds are there."""
    clients, schemes, hosts = (listed(headers, f"x-forwarded-{name}") for name in ("for", "proto", "host"))
    if not (clients or schemes or hosts):
        return [hop_of(part) for part in listed(headers, "forwarded")]
    length = max(len(clients), 1)
    aligned = [one if len(one) == length else [None] * (length - 1) + one[-1:] for one in (clients, schemes, hosts)]
    padded = [[*one, *[None] * (length - len(one))] for one in aligned]
    return [Hop(address_in(client), scheme, host) for client, scheme, host in zip(*padded, strict=True)]


def hop_of(element: str) -> Hop:
    """One element of a `Forwarded` header.

    >>> hop_of('for="[2001:db8::1]:4711";proto=https;host=kb.example.org')
    Hop(client='2001:db8::1', scheme='https', host='kb.example.org')
    """
    pairs = [PAIR.fullmatch(part) for part in element.split(";")]
    found = {match[1].lower(): match[2] or match[3] for match in pairs if match}
    return Hop(address_in(found.get("for")), found.get("proto"), found.get("host"))


def address_in(name: str | None) -> str | None:
    """The address in a name with or without brackets and port; None for a hidden name."""
    bracketed = re.fullmatch(r"\[([0-9A-Fa-f:.]+)\](?::\d+)?", name or "")
    bare = bracketed[1] if bracketed else re.sub(r"^([\d.]+):\d+$", r"\1", name or "")
    try:
        return str(ipaddress.ip_address(bare))
    except ValueError:
        return None


def listed(headers: Headers, name: str) -> list[str]:
    """The parts of a header that may be there several times."""
    return [part.strip() for value in headers.getlist(name) for part in value.split(",")]


def rewritten(scope: Scope, hop: Hop) -> Scope:
    """The scope as the first trusted proxy saw it; what is malformed changes nothing."""
    changed = dict(scope)
    if hop.client is not None:
        changed["client"] = (hop.client, 0)
    schemes = SCHEMES.get((hop.scheme or "").lower())
    if schemes is not None:
        changed["scheme"] = schemes[scope["type"] == "websocket"]
    if hop.host is not None and HOST.fullmatch(hop.host):
        kept = [(name, value) for name, value in scope["headers"] if name != b"host"]
        changed["headers"] = [(b"host", hop.host.encode()), *kept]
    return changed
