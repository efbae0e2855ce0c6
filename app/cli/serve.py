"""The commands that run until they are stopped: the server, and a worker without one."""

from __future__ import annotations

import asyncio
import signal

from app.cli.command import command
from app.cli.output import note
from app.cli.running import run
from app.config import Settings, unknown_variables
from app.opening import open_store
from app.serving import address_of, listen, serve, serve_many
from app.working import background_work


@command("serve", example="CB_PORT=8080 contextql serve")
def serve_command() -> None:
    """Serve GraphQL over HTTP and WebSocket until SIGTERM or Ctrl+C.

    Everything is set by CB_ variables: CB_HOST and CB_PORT say where, CB_WORKERS in how many processes.
    """
    run(serve_as_set, quiet=False)


@command("worker", example="CB_DATABASE_URL=postgresql://… contextql worker")
def worker_command() -> None:
    """Embed what waits and refresh statistics until SIGTERM or Ctrl+C, without serving.

    The server does this too; more workers help when the provider is slow and the queue is long.
    """
    run(work, quiet=False)


async def serve_as_set(settings: Settings) -> None:
    """Serve in as many processes as configured."""
    for line in unknown_variables():
        note(line)
    listener = listen(settings.host, settings.port)

    def announce() -> None:
        note(f"ContextQL serves {address_of(settings, listener)}/graphql")

    if settings.workers == 1:
        await serve(settings, listener, announce=announce)
    else:
        await serve_many(settings, listener, announce)


async def work(settings: Settings) -> None:
    """Work on the queue until a signal comes."""
    none = settings.embedding_provider == "none"
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with open_store(settings) as store, background_work(store):
        note("The worker refreshes statistics; CB_EMBEDDING_PROVIDER is none." if none else "The worker waits for fragments.")
        await stop.wait()
