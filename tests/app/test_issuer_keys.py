"""The keys of an issuer: how they are found, which of them are believed, and what an issuer that misbehaves costs."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from app.issuer_keys import IssuerKeys, address_in
from app.signed_tokens import SignedTokenRules, SignedTokens
from retrieval.errors import ProviderUnavailable, Unauthenticated
from tests.fixtures.issuer import AUDIENCE, ISSUER, Issuer, public, rsa_key


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with Issuer().served() as served:
        yield served


def checking(issuer: Issuer, name: str = ISSUER, url: str | None = None, **given: Any) -> SignedTokens:
    rules = SignedTokenRules(name, (AUDIENCE,), ("RS256", "ES256"), 60, "sub", "groups", 5)
    return SignedTokens(rules, IssuerKeys(name, url, **{"fresh": 300, "kept": 3600} | given))


async def test_keys_are_found_where_the_issuer_says(issuer: Issuer) -> None:
    for name in (issuer.base, issuer.base + "/"):
        issuer.discovered = {"issuer": name, "jwks_uri": issuer.url, "token_endpoint": "https://login.example.org/token"}
        found = await checking(issuer, name).identity(issuer.token("ann", iss=name))
        assert (found.subject, found.issuer) == ("ann", name)


@pytest.mark.parametrize(
    "said",
    [
        {"issuer": "https://evil.example", "jwks_uri": "URL"},
        {"jwks_uri": "URL"},
        {"issuer": "BASE"},
        {"issuer": "BASE", "jwks_uri": 7},
        {"issuer": "BASE", "jwks_uri": "http://login.example.org/keys"},
        {"issuer": "BASE", "jwks_uri": "file:///etc/keys"},
        ["BASE"],
        b"<html>",
        b" " * 600_000,
    ],
    ids=["another's", "no issuer", "no address", "a number", "by http", "a file", "a list", "a page", "huge"],
)
async def test_a_discovery_document_that_is_none_is_not_believed(issuer: Issuer, said: Any) -> None:
    issuer.discovered = said
    if isinstance(said, dict):
        places = {"BASE": issuer.base, "URL": issuer.url}
        issuer.discovered = {name: places.get(value, value) for name, value in said.items()}
    with pytest.raises(ProviderUnavailable):
        await checking(issuer, issuer.base).identity(issuer.token("ann", iss=issuer.base))
    assert issuer.fetches == 0, "nothing is read from where it leads"


def test_only_an_issuer_on_this_machine_leads_to_this_machine() -> None:
    def said(issuer: str, address: str) -> bytes:
        return json.dumps({"issuer": issuer, "jwks_uri": address}).encode()

    assert address_in(said(ISSUER, "https://keys.example.org/k?v=1"), ISSUER) == "https://keys.example.org/k?v=1"
    for address in ("http://127.0.0.1:9/keys", "http://localhost/", "//127.0.0.1/keys", "https://a@127.0.0.1/"):
        with pytest.raises(ValueError, match="https"):
            address_in(said(ISSUER, address), ISSUER)
    for address in ("https://127.0.0.1:9/keys", "https://localhost./keys", "https://[::1]/keys"):
        with pytest.raises(ValueError, match="this machine"):
            address_in(said(ISSUER, address), ISSUER)
    near = "https://localhost:8443"
    assert address_in(said(near, "https://127.0.0.1:8443/keys"), near) == "https://127.0.0.1:8443/keys"


async def test_keys_of_one_id_are_told_apart_by_what_they_sign(issuer: Issuer) -> None:
    curve, other = ec.generate_private_key(ec.SECP256R1()), rsa_key("second")
    for order in (1, -1):
        keys = [public(rsa_key("first"), "one"), public(curve, "one"), public(other, "one")][::order]
        issuer.body = json.dumps({"keys": keys}).encode()
        tokens = checking(issuer, url=issuer.url)
        for key, algorithm in ((rsa_key("first"), "RS256"), (other, "RS256"), (curve, "ES256")):
            issuer.keys = {"one": key}
            assert (await tokens.identity(issuer.token("ann", "one", algorithm))).subject == "ann"
        issuer.keys = {"one": rsa_key("forger")}
        with pytest.raises(Unauthenticated, match="signature"):
            await tokens.identity(issuer.token("ann", "one"))
        issuer.keys = {"one": other}
        with pytest.raises(Unauthenticated, match="expired"):
            await tokens.identity(issuer.token("ann", "one", exp=int(time.time()) - 600))


async def test_a_token_without_an_id_fits_none_of_two_keys_without_one(issuer: Issuer) -> None:
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": int(time.time()) + 60}
    token = jwt.encode(claims, rsa_key("first"), "RS256")
    for keys, holds in (["first"], True), (["first", "second"], False):
        issuer.body = json.dumps({"keys": [public(rsa_key(name), None) for name in keys]}).encode()
        if holds:
            assert (await checking(issuer, url=issuer.url).identity(token)).subject == "ann"
        else:
            with pytest.raises(Unauthenticated, match="does not have"):
                await checking(issuer, url=issuer.url).identity(token)


@pytest.mark.parametrize(
    "broken",
    [
        {"n": "!!!"},
        {"n": None},
        {"n": 7},
        {"e": ""},
        {"kty": "EC"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"alg": "PS256"},
        {"alg": 7},
    ],
)
async def test_a_broken_key_and_one_for_another_algorithm_are_no_keys(issuer: Issuer, broken: dict[str, Any]) -> None:
    issuer.body = json.dumps({"keys": [public(rsa_key("first"), "first") | broken, public(rsa_key("second"), "second")]}).encode()
    issuer.keys["second"] = rsa_key("second")
    tokens = checking(issuer, url=issuer.url)
    with pytest.raises(Unauthenticated, match="does not fit"):
        await tokens.identity(issuer.token("ann"))
    assert (await tokens.identity(issuer.token("ann", "second"))).subject == "ann"


@pytest.mark.parametrize("odd", [{"kty": ["RSA"]}, {"kty": {}}, {"kty": "RSA", "use": ["sig"]}, [], None])
async def test_an_odd_key_hides_no_other(issuer: Issuer, odd: Any) -> None:
    issuer.body = json.dumps({"keys": [odd, public(rsa_key("first"), "first")]}).encode()
    assert (await checking(issuer, url=issuer.url).identity(issuer.token("ann"))).subject == "ann"


async def test_keys_that_come_drop_by_drop_are_not_waited_for(issuer: Issuer) -> None:
    issuer.drip = 0.02
    with pytest.raises(ProviderUnavailable):
        await checking(issuer, url=issuer.url, seconds=0.3).identity(issuer.token("ann"))
    issuer.drip = 0.0
    assert (await checking(issuer, url=issuer.url).identity(issuer.token("ann"))).subject == "ann"


async def test_an_issuer_that_is_down_at_first_is_asked_again(issuer: Issuer) -> None:
    tokens = checking(issuer, url=issuer.url, pause=0)
    issuer.status = 503
    for _ in range(2):
        with pytest.raises(ProviderUnavailable):
            await tokens.identity(issuer.token("ann"))
    issuer.status = 200
    assert (await tokens.identity(issuer.token("ann"))).subject == "ann"
