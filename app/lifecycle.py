"""Runs the server and lets it end in order: readiness off first, requests to their end, sockets closed, exit code 0."""

from __future__ import annotations

import signal
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

DRAIN_SECONDS = 25


class Drain:
    """Whether the process has been told to end."""

    def __init__(self) -> None:
        self.begun = False


class DrainingServer(uvicorn.Server):
    """A uvicorn server that turns readiness off the moment SIGTERM or SIGINT comes, and then ends with code 0."""

    def __init__(self, config: uvicorn.Config, drain: Drain) -> None:
        super().__init__(config)
        self._drain = drain

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain; a second Ctrl+C ends at once."""
        self._drain.begun = True
        super().handle_exit(sig, frame)
        # uvicorn raises the signals it caught again once it is done, which would end the process with 143.
        self._captured_signals = [number for number in self._captured_signals if number != signal.SIGTERM]


def server(
    app: ASGIApp,
    drain: Drain,
    *,
    host: str,
    port: int,
    body_limit: int = 16 * 1024 * 1024,
    drain_seconds: int = DRAIN_SECONDS,
) -> DrainingServer:
    """Configure the server for one process; `await server(...).serve()` runs it until a signal comes.

    Requests in flight get `drain_seconds` to end and are cancelled then; sockets are closed with 1012. Proxy headers are
    not trusted here, because who is local is decided by their presence.
    """
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws_max_size=body_limit,
        ws_ping_interval=20,
        ws_ping_timeout=20,
        timeout_graceful_shutdown=drain_seconds,
        timeout_keep_alive=30,
    )
    return DrainingServer(config, drain)
