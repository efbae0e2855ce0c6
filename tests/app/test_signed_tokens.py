"""Signed tokens: what is refused, whose keys are believed and for how long, and what a token says of its caller."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding

from app.credentials import Credentials
from app.issuer_keys import IssuerKeys
from app.sessions import identity_of, identity_of_token
from app.signed_tokens import SignedTokenRules, SignedTokens
from retrieval.errors import ProviderUnavailable, Unauthenticated
from retrieval.identity import Identity
from tests.fixtures.clock import Clock
from tests.fixtures.issuer import AUDIENCE, ISSUER, Issuer, ed25519_key, public, rsa_key

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with Issuer().served() as served:
        yield served


def checking(issuer: Issuer, *, leeway: float = 60, fresh: float = 300, kept: float = 3600, **keys: Any) -> SignedTokens:
    rules = SignedTokenRules(ISSUER, (AUDIENCE, "other"), ALGORITHMS, leeway, "sub", "groups", 5)
    return SignedTokens(rules, IssuerKeys(ISSUER, issuer.url, fresh=fresh, kept=kept, **keys))


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
        ({"exp": 10**400}, "cannot be read"),
        ({"exp": timedelta(minutes=-10)}, "has expired"),
        ({"nbf": timedelta(minutes=10)}, "not valid yet"),
        ({"iat": timedelta(minutes=10)}, "not valid yet"),
        ({"sub": None}, "lacks the claim 'sub'"),
        ({"sub": "x" * 501}, "cannot be one"),
        ({"sub": "administrator"}, "cannot be one"),
        ({"sub": "everyone"}, "cannot be one"),
        ({"sub": "a\0b"}, "cannot be one"),
        ({"sub": 7}, "cannot be read"),
        ({"sub": " ann"}, "cannot be one"),
        ({"sub": "a\ud800"}, "cannot be one"),
        ({"aud": []}, "lacks a claim"),
        ({"aud": [7]}, "another audience"),
        ({"aud": {"contextql": 1}}, "another audience"),
        ({"aud": ["elsewhere", "contextq"]}, "another audience"),
        ({"groups": {"a": 1}}, "must list"),
        ({"groups": 7}, "must list"),
        ({"groups": ["a", None]}, "must list"),
        ({"groups": [["a"]]}, "must list"),
        ({"groups": [1]}, "must list"),
        ({"groups": ["a", "b", "c", "d", "e", "f"]}, "more than 5"),
    ],
)
async def test_what_a_token_must_say_is_checked(issuer: Issuer, given: dict[str, Any], reason: str) -> None:
    # From now on, not from when the tests were gathered, which may be longer ago than the leeway.
    said = {name: int(time.time() + one.total_seconds()) if isinstance(one, timedelta) else one for name, one in given.items()}
    assert reason in await refusal(checking(issuer), issuer.token(**said))


@pytest.mark.parametrize("aud", [AUDIENCE, "other", [AUDIENCE], ["elsewhere", "other"]])
async def test_one_of_its_audiences_must_be_ours(issuer: Issuer, aud: Any) -> None:
    assert (await checking(issuer).identity(issuer.token(aud=aud))).subject == "ann"


@pytest.mark.parametrize(
    ("groups", "claimed"),
    [
        ("staff", ["staff"]),
        ("staff ops", ["staff ops"]),
        ("", []),
        ([], []),
        ([""], []),
        (["#", "a#b", "#a", "staff#"], ["#", "a#b", "#a", "staff#"]),
        (["everyone", "administrator", "../team"], ["everyone", "administrator", "../team"]),
        (["a" * 10_000, "b"], ["b"]),
        (["a ", "a\0", "a\ud800", "  "], []),
        (["e\u0301", "\u00e9"], ["\u00e9"]),
    ],
)
async def test_groups_are_named_behind_their_issuer_whatever_they_are_called(
    issuer: Issuer, groups: Any, claimed: list[str]
) -> None:
    found = await checking(issuer).identity(issuer.token(groups=groups))
    assert found.claimed == tuple(f"{ISSUER}#{name}" for name in claimed)


@pytest.mark.parametrize(
    ("path", "given", "claimed"),
    [
        ("realm_access.roles", {"realm_access": {"roles": ["staff"]}}, ["staff"]),
        ("realm_access.roles", {"realm_access.roles": ["flat"], "realm_access": {"roles": ["staff"]}}, ["flat"]),
        ("https://example.org/groups", {"https://example.org/groups": ["staff"]}, ["staff"]),
        ("resource_access.my.client.roles", {"resource_access": {"my.client": {"roles": ["staff"]}}}, ["staff"]),
        ("realm_access.roles", {"realm_access": ["staff"]}, []),
        ("realm_access.roles", {"realm_access": {"other": ["staff"]}}, []),
        ("realm_access.roles", {}, []),
        ("groups", {"realm": {"groups": ["staff"]}}, []),
        ("..", {"groups": ["staff"]}, []),
        ("." * 200, {"": {"": {"": {"": ["staff"]}}}}, []),
    ],
)
async def test_groups_are_found_by_name_and_else_by_a_path(
    issuer: Issuer, path: str, given: dict[str, Any], claimed: list[str]
) -> None:
    rules = SignedTokenRules(ISSUER, (AUDIENCE,), ALGORITHMS, 60, "sub", path, 5)
    tokens = SignedTokens(rules, IssuerKeys(ISSUER, issuer.url, fresh=300, kept=3600))
    found = await tokens.identity(issuer.token(**given))
    assert found.claimed == tuple(f"{ISSUER}#{name}" for name in claimed)


async def test_what_a_path_leads_to_is_checked_as_any_list_of_groups(issuer: Issuer) -> None:
    rules = SignedTokenRules(ISSUER, (AUDIENCE,), ALGORITHMS, 60, "sub", "realm.roles", 2)
    tokens = SignedTokens(rules, IssuerKeys(ISSUER, issuer.url, fresh=300, kept=3600))
    assert "must list" in await refusal(tokens, issuer.token(realm={"roles": [7]}))
    assert "more than 2" in await refusal(tokens, issuer.token(realm={"roles": ["a", "b", "c"]}))


async def test_what_a_header_says_must_be_understood_is(issuer: Issuer) -> None:
    tokens, key = checking(issuer), rsa_key("first")
    signed = {"kid": "first"}
    assert (await tokens.identity(jwt.encode(claims(), key, "RS256", headers={**signed, "x": 1}))).subject == "ann"
    for header in ({"crit": ["exp"], "exp": 1}, {"crit": ["x"], "x": 1}, {"crit": []}, {"crit": "x"}, {"crit": [7]},
                   {"crit": ["b64"], "b64": False}, {"b64": False}, {"crit": ["b64"]}):  # fmt: skip
        head = base64.urlsafe_b64encode(json.dumps({"alg": "RS256", "kid": "first", **header}).encode()).rstrip(b"=")
        body = base64.urlsafe_b64encode(json.dumps(claims()).encode()).rstrip(b"=")
        whole = head + b"." + body
        signature = key.sign(whole, padding.PKCS1v15(), hashes.SHA256())
        token = (whole + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()
        assert "cannot be read" in await refusal(tokens, token), header


async def test_keys_that_a_token_brings_along_are_not_looked_at(issuer: Issuer) -> None:
    forger = rsa_key("forger")
    brought = {"jwk": public(forger, "forged"), "jku": issuer.url, "x5u": issuer.url}
    for key_id in ("first", "forged"):
        token = jwt.encode(claims(), forger, "RS256", headers={"kid": key_id, **brought})
        assert await refusal(checking(issuer), token)


async def test_a_token_of_a_megabyte_is_refused_before_anything_of_it_is_read(issuer: Issuer) -> None:
    token = issuer.token(groups=["group " * 10] * 20_000)
    assert len(token) > 1_000_000
    tokens, spent = checking(issuer), []
    for _ in range(5):
        started = time.process_time()
        with pytest.raises(Unauthenticated):
            await identity_of(Credentials(f"Bearer {token}", False, "1"), False, tokens)
        with pytest.raises(Unauthenticated):
            await identity_of_token(token, tokens)
        spent.append(time.process_time() - started)
    assert issuer.fetches == 0
    started = time.process_time()
    with pytest.raises(Unauthenticated):
        await tokens.identity(token)
    assert min(spent) < (time.process_time() - started) / 10, "a tenth of what reading it takes, at most"


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
    tokens = checking(issuer, clock=Clock())
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
    clock = Clock()
    tokens = checking(issuer, fresh=0, kept=3, pause=0, clock=clock)
    await tokens.identity(issuer.token())
    issuer.status = 503
    assert (await tokens.identity(issuer.token())).subject == "ann"
    clock.now += 3
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
