"""Serves GraphiQL from our own files: the page at the GraphQL address, its scripts beside it, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FILES = Path(__file__).parent / "static" / "graphiql"
# Styles are the exception: the editor places its parts by style attributes.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
PAGE_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
    "Vary": "Accept",
}


def graphiql_page() -> Callable[[], Response]:
    """Read the page once and give the function that answers with it."""
    html = (FILES / "index.html").read_text(encoding="utf-8")
    return lambda: HTMLResponse(html, headers=PAGE_HEADERS)


def graphiql_files() -> Mount:
    """The route of the files that the page loads."""
    return Mount("/static/graphiql", _WithoutRanges(StaticFiles(directory=FILES)), name="graphiql")


class _WithoutRanges:
    """Serves whole files only: a header with thousands of ranges would cost more than the file."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"x-content-type-options", b"nosniff")]
            await send(message)

        headers = [(name, value) for name, value in scope["headers"] if name not in (b"range", b"if-range")]
        await self._app({**scope, "headers": headers}, receive, with_headers)
