"""Which web pages may talk to this server: its own, and those of the listed origins."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from app.responses import error_response

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class OriginGuard:
    """Refuses with 403 every request and handshake that a page of a foreign, unlisted origin makes.

    Browsers send simple requests without asking first, so CORS headers alone would let them be carried out.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str] = ()) -> None:
        self._app = app
        self._origins = frozenset(origin.rstrip("/").lower() for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and not self.allows(scope):
            response = error_response(403, "Requests of this origin are not accepted here.", "FORBIDDEN")
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008, "reason": "origin not accepted"})
            else:
                await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def allows(self, scope: Scope) -> bool:
        """Whether the Origin is absent, listed (`*` lists every one), or the one the request itself was sent to."""
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin is None or origin.lower() in self._origins or "*" in self._origins:
            return True
        return same_origin(origin, headers.get("host", ""))


def with_cors(app: ASGIApp, origins: Sequence[str]) -> ASGIApp:
    """Add the headers that let pages of the listed origins read the answers."""
    return CORSMiddleware(
        app,
        allow_origins=[origin.rstrip("/") for origin in origins],
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", "Content-Type", "X-On-Behalf-Of", "X-Request-Id"],
        expose_headers=["X-Request-Id", "Retry-After"],
    )


def same_origin(origin: str, host: str) -> bool:
    """Whether an Origin names the host that the request went to; behind a proxy the scheme may differ."""
    try:
        parts, own = urlsplit(origin), urlsplit(f"//{host}")
        default = DEFAULT_PORTS.get(parts.scheme)
        # A Host without a port means the default port of whichever scheme the page was loaded by.
        return bool(parts.hostname) and parts.hostname == own.hostname and (parts.port or default) == (own.port or default)
    except ValueError:
        return False
