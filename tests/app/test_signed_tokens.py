"""Signed tokens: what is refused, whose keys are believed and for how long, and what a token says of its caller."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from app.issuer_keys import IssuerKeys
from app.signed_tokens import SignedTokenRules, SignedTokens
from retrieval.errors import ProviderUnavailable, Unauthenticated
from retrieval.identity import Identity
from tests.fixtures.issuer import AUDIENCE, ISSUER, Issuer, ed25519_key, public, rsa_key

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with Issuer().served() as served:
        yield served


def checking(issuer: Issuer, *, leeway: float = 60, fresh: float = 300, kept: float = 3600, **keys: Any) -> SignedTokens:
    rules = SignedTokenRules(ISSUER, (AUDIENCE, "other"), ALGORITHMS, leeway, "sub", "groups", 5)
    return SignedTokens(rules, IssuerKeys(issuer.url, fresh=fresh, kept=kept, **keys))


async def refusal(tokens: SignedTokens, token: str) -> str:
    with pytest.raises(Unauthenticated) as caught:
        await tokens.identity(token)
    return caught.value.message


def unsigned(header: dict[str, Any], claims: dict[str, Any], signature: str = "") -> str:
    def part(value: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    return f"{part(header)}.{part(claims)}.{signature}"


def claims(**rest: Any) -> dict[str, Any]:
    return {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "exp": int(time.time()) + 300} | rest


async def test_a_token_names_its_caller_its_groups_and_its_end(issuer: Issuer) -> None:
    ends = int(time.time()) + 100
    token = issuer.token("ann", groups=["staff", "staff", "", "a\0b", "ops"], exp=ends)
    found = await checking(issuer).identity(token)
    assert found == Identity(subject="ann", issuer=ISSUER, claimed=(f"{ISSUER}#staff", f"{ISSUER}#ops"), ends_at=ends + 60)


async def test_every_algorithm_of_the_default_is_taken(issuer: Issuer) -> None:
    issuer.keys = {"RS256": rsa_key("first"), "ES256": ec.generate_private_key(ec.SECP256R1()), "EdDSA": ed25519_key()}
    tokens = checking(issuer)
    for name in issuer.keys:
        assert (await tokens.identity(issuer.token("ann", name, name))).subject == "ann"
    assert (await tokens.identity(issuer.token("ann", "RS256", "PS256"))).subject == "ann"


async def test_algorithms_without_a_public_key_are_refused(issuer: Issuer) -> None:
    tokens = checking(issuer)
    for algorithm in ("none", "None", "", "HS256"):
        assert "signed by one of" in await refusal(tokens, unsigned({"alg": algorithm, "kid": "first"}, claims()))
    secret = rsa_key("first").public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.PKCS1)
    signed = unsigned({"alg": "HS256", "kid": "first"}, claims())[:-1]
    forged = base64.urlsafe_b64encode(hmac.digest(secret, signed.encode(), "sha256")).rstrip(b"=").decode()
    assert "signed by one of" in await refusal(tokens, f"{signed}.{forged}")
    assert issuer.fetches == 0, "nobody asks for the keys of what is refused anyway"


async def test_a_symmetric_key_that_an_issuer_publishes_is_no_key(issuer: Issuer) -> None:
    issuer.body = json.dumps({"keys": [{"kty": "oct", "kid": "first", "k": "c2VjcmV0", "alg": "HS256"}]}).encode()
    assert "does not have" in await refusal(checking(issuer), issuer.token())


async def test_a_key_is_good_for_its_own_algorithm_use_and_size_only(issuer: Issuer) -> None:
    keys = [
        public(rsa_key("first"), "first"),
        public(rsa_key("first"), "locks", use="enc"),
        public(rsa_key("small", 1024), "small"),
    ]
    issuer.body = json.dumps({"keys": keys}).encode()
    tokens = checking(issuer, pause=0)
    issuer.keys |= {"locks": rsa_key("first"), "small": rsa_key("small", 1024), "curve": ec.generate_private_key(ec.SECP256R1())}
    assert (await tokens.identity(issuer.token())).subject == "ann"
    assert "does not have" in await refusal(tokens, issuer.token(key="locks"))
    with pytest.warns(jwt.warnings.InsecureKeyLengthWarning):
        weak = issuer.token(key="small")
    assert "cannot be read" in await refusal(tokens, weak)
    forged = jwt.encode(claims(), issuer.keys["curve"], "ES256", headers={"kid": "first"})
    assert "does not fit" in await refusal(tokens, forged)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"aud": "elsewhere"}, "another audience"),
        ({"aud": None}, "lacks a claim"),
        ({"iss": "https://evil.example"}, "another issuer"),
        ({"iss": None}, "lacks a claim"),
        ({"exp": None}, "lacks a claim"),
        ({"exp": "tomorrow"}, "cannot be read"),
        ({"exp": int(time.time()) - 600}, "has expired"),
        ({"nbf": int(time.time()) + 600}, "not valid yet"),
        ({"iat": int(time.time()) + 600}, "not valid yet"),
        ({"sub": None}, "lacks the claim 'sub'"),
        ({"sub": "x" * 501}, "cannot be one"),
        ({"sub": "administrator"}, "cannot be one"),
        ({"sub": "everyone"}, "cannot be one"),
        ({"sub": "a\0b"}, "cannot be one"),
        ({"groups": {"a": 1}}, "must list"),
        ({"groups": [1]}, "must list"),
        ({"groups": ["a", "b", "c", "d", "e", "f"]}, "more than 5"),
    ],
)
async def test_what_a_token_must_say_is_checked(issuer: Issuer, given: dict[str, Any], reason: str) -> None:
    assert reason in await refusal(checking(issuer), issuer.token(**given))


async def test_clocks_ten_minutes_off_are_taken_where_the_leeway_says_so(issuer: Issuer) -> None:
    now = int(time.time())
    tokens = checking(issuer, leeway=660)
    for given in ({"exp": now - 600}, {"nbf": now + 600}, {"iat": now + 600}):
        assert (await tokens.identity(issuer.token(**given))).subject == "ann"


@pytest.mark.parametrize("token", ["..", "a.b.c", "e30.e30.", f"{'x' * 9000}.y.z", unsigned({"alg": ["RS256"]}, {}),
                                   unsigned({"alg": "RS256", "kid": 7}, {}), "ключ.b.c"])  # fmt: skip
async def test_what_is_no_token_is_refused(issuer: Issuer, token: str) -> None:
    assert await refusal(checking(issuer), token)


async def test_a_signature_by_another_key_of_the_same_id_is_refused(issuer: Issuer) -> None:
    forged = jwt.encode(claims(), rsa_key("forger"), "RS256", headers={"kid": "first"})
    assert "signature" in await refusal(checking(issuer), forged)


async def test_a_token_without_a_key_id_fits_a_single_key_only(issuer: Issuer) -> None:
    token = jwt.encode(claims(), rsa_key("first"), "RS256")
    tokens = checking(issuer, pause=0)
    assert (await tokens.identity(token)).subject == "ann"
    issuer.keys["second"] = rsa_key("second")
    assert "does not have" in await refusal(checking(issuer), token)


async def test_an_unknown_key_is_fetched_once_and_then_refused_for_a_while(issuer: Issuer) -> None:
    tokens = checking(issuer)
    assert "does not have" in await refusal(tokens, issuer.token(key="invented"))
    for number in range(20):
        assert "does not have" in await refusal(tokens, issuer.token(key="invented", groups=[str(number)]))
    assert issuer.fetches == 1
    assert (await tokens.identity(issuer.token())).subject == "ann"


async def test_a_rotated_key_is_found_and_the_old_one_goes(issuer: Issuer) -> None:
    tokens = checking(issuer, pause=0)
    old = issuer.token()
    await tokens.identity(old)
    issuer.keys = {"second": rsa_key("second")}
    assert (await tokens.identity(issuer.token(key="second"))).subject == "ann"
    assert "does not have" in await refusal(tokens, old)


async def test_many_callers_share_one_fetch(issuer: Issuer) -> None:
    issuer.seconds = 0.1
    tokens = checking(issuer)
    found = await asyncio.gather(*(tokens.identity(issuer.token(f"user{number}")) for number in range(10)))
    assert ([one.subject for one in found], issuer.fetches) == ([f"user{number}" for number in range(10)], 1)


async def test_known_keys_are_good_for_a_bounded_time_while_the_issuer_is_down(issuer: Issuer) -> None:
    tokens = checking(issuer, fresh=0, kept=0.5, pause=0)
    await tokens.identity(issuer.token())
    issuer.status = 503
    assert (await tokens.identity(issuer.token())).subject == "ann"
    await asyncio.sleep(0.6)
    with pytest.raises(ProviderUnavailable):
        await tokens.identity(issuer.token())
    issuer.status = 200
    assert (await tokens.identity(issuer.token())).subject == "ann"
    await tokens.close()


@pytest.mark.parametrize(
    ("status", "body", "seconds"),
    [
        (503, None, 0.0),
        (302, None, 0.0),
        (200, b"<html><title>Sign in</title></html>", 0.0),
        (200, b'{"keys": {}}', 0.0),
        (200, b"[" * 100_000, 0.0),
        (200, b'{"keys": [' + b" " * 600_000 + b"]}", 0.0),
        (200, json.dumps({"keys": [{}] * 101}).encode(), 0.0),
        (200, None, 3.0),
    ],
    ids=["down", "elsewhere", "a page", "no list", "deep", "huge", "many", "slow"],
)
async def test_an_issuer_that_cannot_be_read_is_no_fault_of_the_token(
    issuer: Issuer, status: int, body: bytes | None, seconds: float
) -> None:
    issuer.status, issuer.body, issuer.seconds = status, body, seconds
    with pytest.raises(ProviderUnavailable):
        await checking(issuer, seconds=0.3).identity(issuer.token())


async def test_an_issuer_that_is_gone_is_no_fault_of_the_token() -> None:
    issuer = Issuer(url="http://127.0.0.1:9/keys")
    with pytest.raises(ProviderUnavailable):
        await checking(issuer).identity(issuer.token())
