"""The server process, in the order in which it starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette

from app.config import Settings
from app.edge import build_app
from app.fair_exchange import exchanging
from app.fair_use import FairLimits, FairUse
from app.graphql import EdgeLimits
from app.identification import make_signed_tokens
from app.lifecycle import Drain
from app.opening import open_store
from app.sessions import Sessions, SignedTokens, describe
from app.spans import make_spans
from app.telemetry import Telemetry
from app.watching import Watching
from app.working import background_work
from retrieval.session import Session
from retrieval.store import Store
from schema.api import make_schema
from schema.limits import RequestLimits


async def nothing(store: Store) -> None:
    """Prepare nothing."""


@asynccontextmanager
async def running_app(
    settings: Settings, drain: Drain, prepare: Callable[[Store], Awaitable[None]] = nothing
) -> AsyncIterator[Starlette]:
    """The whole application over an open store that `prepare` has seen first; its background work stops with it."""
    spans = make_spans(settings)
    telemetry = Telemetry(spans)
    async with AsyncExitStack() as stack:
        if spans is not None:
            stack.push_async_callback(asyncio.to_thread, spans.close)
        store = await stack.enter_async_context(open_store(settings, Watching(telemetry)))
        await prepare(store)
        await stack.enter_async_context(background_work(store))
        signed = make_signed_tokens(settings)
        if signed is not None:
            stack.push_async_callback(signed.close)
        fair = make_fair(settings, telemetry)
        await stack.enter_async_context(exchanging(fair, store.database))
        yield application(settings, store, telemetry, drain, signed, fair)


def make_fair(settings: Settings, telemetry: Telemetry) -> FairUse:
    """The shares of all who ask."""
    limits = FairLimits(
        settings.points_per_minute, settings.concurrent_requests, settings.concurrent_streams, settings.concurrent_sockets
    )
    return FairUse(limits, lambda reason: telemetry.refusals.labels(reason).inc())


def application(
    settings: Settings,
    store: Store,
    telemetry: Telemetry,
    drain: Drain,
    signed: SignedTokens | None = None,
    fair: FairUse | None = None,
) -> Starlette:
    """The edge over a store; `signed` checks signed tokens, `fair` has the shares that other processes hear of."""
    fair = fair or make_fair(settings, telemetry)
    sessions = Sessions(store, local_admin=settings.local_admin, seconds=settings.request_timeout, signed=signed, fair=fair)
    telemetry.watch("contextql_pool_used", "Database connections in use", lambda: float(store.database.in_use()))

    async def ready() -> Sequence[str]:
        async with store.database.reading() as connection:
            await connection.fetchval("select 1")
        return ()

    return build_app(
        schema=make_schema(RequestLimits(characters=settings.max_document)),
        open_session=sessions.open,
        ready=ready,
        drain=drain,
        telemetry=telemetry,
        limits=EdgeLimits(seconds=settings.request_timeout, body=settings.max_body),
        cors_origins=settings.cors_origins,
        trusted_proxies=settings.trusted_proxies,
        base_path=settings.base_path,
        describe=describe,
        account=Session.note_answer,
        hold_socket=sessions.hold_socket,
    )
