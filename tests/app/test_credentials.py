"""Who counts as sitting on this machine, and where a token may come from."""

from __future__ import annotations

import pytest
from starlette.requests import HTTPConnection

from app.credentials import credentials_of, is_local


def connection(client: str = "127.0.0.1", **headers: str) -> HTTPConnection:
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in {"host": "localhost:8000", **headers}.items()]
    return HTTPConnection({"type": "http", "headers": raw, "client": (client, 5000)})


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "127.0.0.1:8000", "127.9.9.9", "[::1]:8000", "LOCALHOST"])
def test_loopback_names_are_local(host: str) -> None:
    assert is_local(connection(host=host))
    assert is_local(connection("::1", host=host))


@pytest.mark.parametrize(
    "request_",
    [
        connection("10.0.0.1"),
        connection(host="kb.example"),
        connection(host="localhost.evil.example"),
        connection(host="[::1"),
        connection(host=""),
        connection(origin="https://evil.example"),
        connection(origin="null"),
        connection(forwarded="for=1.2.3.4"),
        connection(x_forwarded_for="127.0.0.1"),
        connection(x_forwarded_proto="https"),
        connection(sec_fetch_site="cross-site"),
        HTTPConnection({"type": "http", "headers": [(b"host", b"localhost")], "client": None}),
    ],
)
def test_proxies_foreign_hosts_and_foreign_pages_are_not(request_: HTTPConnection) -> None:
    assert not is_local(request_)


def test_an_own_page_is_local() -> None:
    assert is_local(connection(origin="http://localhost:8000", sec_fetch_site="same-origin"))


def test_the_payload_of_a_socket_goes_before_its_header() -> None:
    request = connection(authorization="Bearer header")
    assert credentials_of(request, "1").authorization == "Bearer header"
    assert credentials_of(request, "1", {"authorization": "Bearer payload"}).authorization == "Bearer payload"
    assert credentials_of(request, "1", {"Authorization": None}).authorization == "Bearer header"
    assert credentials_of(connection(), "1").authorization is None


@pytest.mark.parametrize("given", [{"Authorization": 7}, {"Authorization": ""}, {"Authorization": "a", "authorization": "b"}])
def test_a_token_that_is_none_does_not_count_as_no_token(given: dict[str, object]) -> None:
    for request in (connection(), connection(authorization="Bearer header")):
        assert credentials_of(request, "1", given).authorization == ""
    raw = [(b"host", b"localhost"), (b"authorization", b"Bearer a"), (b"authorization", b"Bearer b")]
    assert credentials_of(HTTPConnection({"type": "http", "headers": raw}), "1").authorization == ""


def test_a_user_is_named_once_by_the_header_or_by_the_payload_of_a_socket() -> None:
    plain, named, twice = connection(), connection(x_on_behalf_of="ann"), {"X-On-Behalf-Of": "ann", "x-on-behalf-of": "ann"}
    assert [credentials_of(one, "1").acts_for for one in (plain, named)] == [None, "ann"]
    for one in (plain, named):
        assert credentials_of(one, "1", {"X-On-Behalf-Of": "ann"}).acts_for == "ann"
        assert credentials_of(one, "1", twice).acts_for == ""
    for other in ("bob", "", None, 7):
        assert credentials_of(named, "1", {"X-On-Behalf-Of": other}).acts_for == "", "a proxy said ann"


def test_a_malformed_origin_is_not_local() -> None:
    assert not is_local(connection(origin="http://[::1"))
