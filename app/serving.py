"""Serves the application on one address: in this process, or in several that share its socket."""

from __future__ import annotations

import asyncio
import errno
import gc
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

import structlog
import uvloop

from app.config import Settings, load_settings
from app.lifecycle import DRAIN_SECONDS, Drain, server
from app.logs import configure_logging
from app.main import nothing, running_app
from app.opening import database_url, open_store
from retrieval.errors import ContextQLError
from retrieval.store import Store

log = structlog.get_logger(__name__)

SHORT_LIFE_SECONDS = 10.0
SHORT_LIVES_MOST = 3
"""A worker that ends by itself is replaced, unless it ended this soon this often in a row: then something is wrong for good."""
AGAIN_SECONDS = 0.5
YOUNG_OBJECTS = 10_000
"""How many objects are made between two looks for cycles: one request makes thousands, and hardly any cycle."""


class CannotListen(ContextQLError):
    """The address is taken or not ours; the message says which."""

    code = "BAD_INPUT"


class WorkersEnd(ContextQLError):
    """Worker processes end as soon as they begin; their own lines say why."""


async def serve(
    settings: Settings,
    listener: socket.socket,
    *,
    prepare: Callable[[Store], Awaitable[None]] = nothing,
    announce: Callable[[], None] = lambda: None,
) -> None:
    """Serve in this process until SIGTERM or Ctrl+C; `prepare` runs before the first request, `announce` when all is ready."""
    drain = Drain()
    async with running_app(settings, drain, prepare) as app:
        serving = server(app, drain, host=settings.host, port=port_of(listener), body_limit=settings.max_body)
        leave_alone_what_stays()
        with signals_left_to_uvicorn():
            running = asyncio.create_task(serving.serve(sockets=[listener]))
            while not serving.started and not running.done():  # noqa: ASYNC110 - uvicorn has no event for it
                await asyncio.sleep(0.02)
            if serving.started:
                announce()
            with refused(settings.host, port_of(listener)):
                await running


def leave_alone_what_stays() -> None:
    """Keep the collector of cycles from going through the modules and the schema again and again while requests wait."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)


async def serve_many(settings: Settings, listener: socket.socket, announce: Callable[[], None]) -> None:
    """Serve in `CB_WORKERS` processes that share the socket; a worker that dies is replaced, SIGTERM ends them all in order."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    async with database_url(settings):
        async with open_store(settings.model_copy(update={"pool_size": 1})):
            log.info("database_ready")  # migrated once, before any worker looks
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        announce()
        async with asyncio.TaskGroup() as group:
            for worker in range(settings.workers):
                group.create_task(keep_alive(worker, listener, stop))


async def keep_alive(worker: int, listener: socket.socket, stop: asyncio.Event) -> None:
    """Run one worker process after another until `stop` is set; raises `WorkersEnd` when they do not live."""
    short_lives = 0
    while not stop.is_set():
        began = monotonic()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "app.serving", str(listener.fileno()),
            pass_fds=[listener.fileno()], stdin=asyncio.subprocess.PIPE,
        )  # fmt: skip
        ended, stopped = asyncio.create_task(process.wait()), asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({ended, stopped}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.cancel()
            await end(process, ended)
        if stop.is_set():
            return
        short_lives = short_lives + 1 if monotonic() - began < SHORT_LIFE_SECONDS else 0
        log.warning("worker_ended", worker=worker, code=process.returncode)
        if short_lives >= SHORT_LIVES_MOST:
            raise WorkersEnd(f"Server processes end as soon as they begin (code {process.returncode}); see the lines above.")


async def end(process: asyncio.subprocess.Process, ended: asyncio.Task[int]) -> None:
    """Let a worker end in order, or kill it when it does not."""
    if ended.done():
        return
    with suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(asyncio.shield(ended), DRAIN_SECONDS + 10)
    except TimeoutError:
        process.kill()
        await ended


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to an address, which nobody reaches before it is served; raises `CannotListen`."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except OSError as error:
        raise CannotListen(f"CB_HOST={host} is no address ({error.strerror or error}).") from error
    listener = socket.socket(family, kind, protocol)
    try:
        with refused(host, port):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.setblocking(False)
    except CannotListen:
        listener.close()
        raise
    return listener


@contextmanager
def refused(host: str, port: int) -> Iterator[None]:
    """Say in one line why an address cannot be listened on."""
    try:
        yield
    except OSError as error:
        in_use = error.errno == errno.EADDRINUSE
        reason = "another program listens there" if in_use else (error.strerror or str(error))
        raise CannotListen(f"Cannot listen on {host}:{port}: {reason}. Set CB_PORT or CB_HOST to another one.") from error


def port_of(listener: socket.socket) -> int:
    """The port of a bound socket."""
    port: int = listener.getsockname()[1]
    return port


def address_of(settings: Settings, listener: socket.socket) -> str:
    """The address for a browser on this machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)
    return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{port_of(listener)}{settings.base_path}"


@contextmanager
def signals_left_to_uvicorn() -> Iterator[None]:
    """Ignore the signals that uvicorn raises again once it has ended in order because of them."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


async def work(descriptor: int) -> None:
    """What a worker process does: serve on the socket that it inherited, no longer than its parent lives."""
    settings = load_settings()
    asyncio.get_running_loop().add_reader(sys.stdin, end_with_parent)
    await serve(settings, socket.socket(fileno=descriptor))


def end_with_parent() -> None:
    """The pipe from the parent has ended: end in order. Said again until it is heard, since a starting server ignores it once."""
    loop = asyncio.get_running_loop()
    loop.remove_reader(sys.stdin)
    loop.call_later(AGAIN_SECONDS, end_with_parent)
    signal.raise_signal(signal.SIGTERM)


if __name__ == "__main__":
    configure_logging(load_settings().log_format, load_settings().log_level.upper())
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work(int(sys.argv[1])))
