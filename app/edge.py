"""Puts the edge together: one Starlette application with GraphQL, GraphiQL, health and metrics behind the guards."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute

from app.admission import Admission
from app.graphiql import graphiql_files, graphiql_page
from app.graphql import (
    DEFAULT_LIMITS,
    Account,
    Describe,
    EdgeLimits,
    GraphQLEndpoint,
    HoldSocket,
    OpenSession,
    Schema,
    no_account,
    no_bound,
)
from app.health import Health, Ready
from app.lifecycle import Drain
from app.origins import OriginGuard, with_cors
from app.proxies import TrustedProxies
from app.request_id import RequestIds
from app.telemetry import Telemetry

CONCURRENT = 200


def build_app(
    *,
    schema: Schema,
    open_session: OpenSession,
    ready: Ready,
    drain: Drain | None = None,
    telemetry: Telemetry | None = None,
    limits: EdgeLimits = DEFAULT_LIMITS,
    concurrent: int = CONCURRENT,
    cors_origins: Sequence[str] = (),
    trusted_proxies: Sequence[str] = (),
    base_path: str = "",
    describe: Describe = lambda session: {},
    account: Account = no_account,
    hold_socket: HoldSocket = no_bound,
    graphiql: bool = True,
) -> Starlette:
    """Build the application.

    `describe` says for the access line who asked and how much, `account` notes what was read, `hold_socket` counts sockets.
    """
    telemetry = telemetry or Telemetry()
    endpoint = GraphQLEndpoint(
        schema,
        open_session,
        telemetry=telemetry,
        admission=Admission(concurrent, telemetry),
        limits=limits,
        page=graphiql_page() if graphiql else None,
        describe=describe,
        account=account,
        hold_socket=hold_socket,
    )
    health = Health(ready, drain or Drain())
    routes: list[BaseRoute] = [
        Route("/graphql", endpoint),
        WebSocketRoute("/graphql", endpoint),
        Route("/healthz", health.healthz),
        Route("/readyz", health.readyz),
        Route("/metrics", telemetry.endpoint),
        *([Route("/", _to_graphql), graphiql_files()] if graphiql else []),
    ]
    middleware = _middleware(cors_origins, trusted_proxies)
    return Starlette(routes=[Mount(base_path, routes=routes)] if base_path else routes, middleware=middleware)


def _middleware(cors_origins: Sequence[str], trusted_proxies: Sequence[str]) -> list[Middleware]:
    """What stands before every route, the outermost first."""
    middleware = [Middleware(RequestIds), Middleware(OriginGuard, origins=cors_origins)]
    if trusted_proxies:
        middleware.insert(0, Middleware(TrustedProxies, networks=trusted_proxies))
    if cors_origins:
        middleware.append(Middleware(with_cors, origins=cors_origins))
    return middleware


async def _to_graphql(request: Request) -> Response:
    return RedirectResponse("graphql")
