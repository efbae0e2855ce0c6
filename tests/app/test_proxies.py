"""What stands before the server: whose word is taken for scheme and host, and under which path everything is."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from starlette.requests import HTTPConnection
from starlette.types import Receive, Scope, Send
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from app.credentials import is_local
from app.proxies import TrustedProxies
from tests.app.edge_world import ask, edge

PROXIES = ("10.0.0.0/8", "2001:db8::/32")


async def seen(client: str | None, *headers: tuple[str, str], kind: str = "http") -> tuple[str | None, str, str, Scope]:
    """Client, scheme and host as the application sees them."""
    found: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        found.append(scope)

    async def nothing(*_: Any) -> Any:
        return None

    raw = [(b"host", b"inner:8000"), *((name.lower().encode(), value.encode()) for name, value in headers)]
    scope = {"type": kind, "scheme": "http" if kind == "http" else "ws", "headers": raw, "client": client and (client, 5000)}
    await TrustedProxies(app, PROXIES)(scope, nothing, nothing)
    hosts = [value.decode() for name, value in found[0]["headers"] if name == b"host"]
    assert len(hosts) == 1
    return (found[0]["client"] or (None,))[0], found[0]["scheme"], hosts[0], found[0]


X = (("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "kb.example.org"))
TOLD = ("203.0.113.9", "https", "kb.example.org")


@pytest.mark.parametrize(
    "headers",
    [
        X,
        (("Forwarded", "for=203.0.113.9;proto=https;host=kb.example.org"),),
        (("Forwarded", 'For="203.0.113.9:4711"; Proto=https ; host="kb.example.org"'),),
    ],
)
@pytest.mark.parametrize("peer", ["10.1.2.3", "2001:db8::7", "::ffff:10.1.2.3"])
async def test_the_word_of_a_trusted_proxy_is_taken(peer: str, headers: tuple[tuple[str, str], ...]) -> None:
    assert (await seen(peer, *headers))[:3] == TOLD


@pytest.mark.parametrize("peer", ["192.0.2.1", "127.0.0.1", "::1", "unix", None])
async def test_the_word_of_anybody_else_is_not(peer: str | None) -> None:
    assert (await seen(peer, *X))[:3] == (peer, "http", "inner:8000")
    assert (await seen(peer, ("Forwarded", "for=203.0.113.9;host=kb.example.org")))[:3] == (peer, "http", "inner:8000")


async def test_a_chain_is_believed_as_far_as_it_is_trusted() -> None:
    said = "for=127.0.0.1;host=evil.example, for=203.0.113.9;proto=https;host=kb.example.org, for=10.9.9.9;host=mid"
    assert (await seen("10.1.2.3", ("Forwarded", said)))[:3] == TOLD
    lists = (("X-Forwarded-For", "127.0.0.1, 203.0.113.9, 10.9.9.9"), ("X-Forwarded-Host", "kb.example.org"))
    assert (await seen("10.1.2.3", *lists))[:3] == ("203.0.113.9", "http", "kb.example.org")


async def test_a_socket_gets_the_scheme_of_sockets() -> None:
    assert (await seen("10.1.2.3", *X, kind="websocket"))[:3] == ("203.0.113.9", "wss", "kb.example.org")


@pytest.mark.parametrize("headers", [
    (("Forwarded", ""),), (("Forwarded", ";;,=,for"),), (("Forwarded", "for=_hidden;proto=gopher;host=a b"),),
    (("X-Forwarded-For", "unknown"), ("X-Forwarded-Host", "evil.example/path"), ("X-Forwarded-Proto", "javascript")),
    (("X-Forwarded-For", "," * 5000),), (("Forwarded", 'for="' * 3000),),
])  # fmt: skip
async def test_what_is_malformed_changes_nothing(headers: tuple[tuple[str, str], ...]) -> None:
    assert (await seen("10.1.2.3", *headers))[:3] == ("10.1.2.3", "http", "inner:8000")


async def test_nobody_becomes_local_through_a_proxy() -> None:
    told = (("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-Host", "localhost"))
    *said, scope = await seen("10.1.2.3", *told)
    assert said == ["127.0.0.1", "http", "localhost"]
    assert not is_local(HTTPConnection(scope))


def test_a_page_of_the_host_that_the_proxy_names_is_no_foreign_page() -> None:
    headers = {"Origin": "https://kb.example.org", "X-Forwarded-Host": "kb.example.org", "X-Forwarded-Proto": "https"}
    with edge(trusted_proxies=("127.0.0.1",)) as (_, client):
        assert ask(client, "{ hello }", headers).json() == {"data": {"hello": "world"}}
        assert ask(client, "{ hello }", {**headers, "Origin": "https://evil.example"}).status_code == 403
    with edge() as (_, client):
        assert ask(client, "{ hello }", headers).status_code == 403


def test_everything_is_under_the_base_path_and_nothing_beside_it() -> None:
    with edge(base_path="/tools/kb") as (_, client):
        paths = ("graphql?query={hello}", "healthz", "readyz", "metrics", "static/graphiql/page.js")
        assert [client.get(f"/tools/kb/{path}").status_code for path in paths] == [200] * 5
        assert [client.get(f"/{path}").status_code for path in paths] == [404] * 5
        assert client.get("/tools/kbx/healthz").status_code == 404
        page = client.get("/tools/kb", headers={"Accept": "text/html"}, follow_redirects=True)
        assert (page.url.path, page.status_code) == ("/tools/kb/graphql", 200)
        assert 'src="static/graphiql/page.js"' in page.text, "links of the page are relative, so they stay under the path"


def connected(client: httpx.Client, path: str) -> ClientConnection:
    url = f"ws://{client.base_url.host}:{client.base_url.port}{path}"
    return connect(url, subprotocols=[Subprotocol("graphql-transport-ws")])


def test_sockets_are_under_the_base_path_too() -> None:
    with edge(base_path="/kb") as (_, client), connected(client, "/kb/graphql") as connection:
        connection.send('{"type": "connection_init"}')
        assert connection.recv(timeout=30) == '{"type":"connection_ack"}'
