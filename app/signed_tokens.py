"""Checks signed bearer tokens (JWT) and reads from them who asks and which groups come with the token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import jwt
from jwt import PyJWK
from jwt.exceptions import (
    ExpiredSignatureError,
    ImmatureSignatureError,
    InvalidAudienceError,
    InvalidIssuerError,
    InvalidSignatureError,
    MissingRequiredClaimError,
    PyJWTError,
)

from app.issuer_keys import IssuerKeys
from retrieval.administration.names import RESERVED, check_principal
from retrieval.errors import BadInput, Unauthenticated
from retrieval.identity import Identity

REASONS: Mapping[type[PyJWTError], str] = {
    ExpiredSignatureError: "The token has expired; get a new one.",
    ImmatureSignatureError: "The token is not valid yet; compare the clocks of its issuer and of this server.",
    InvalidAudienceError: "The token is for another audience.",
    InvalidIssuerError: "The token is of another issuer.",
    MissingRequiredClaimError: "The token lacks a claim: it needs exp, iss and aud.",
}
MALFORMED = "The token cannot be read."


class WrongKey(Unauthenticated):
    """The signature is not by a key that has the id."""


@dataclass(frozen=True, slots=True)
class SignedTokenRules:
    """What a signed token must say; `leeway` in seconds."""

    issuer: str
    audiences: tuple[str, ...]
    algorithms: tuple[str, ...]
    leeway: float
    principal_claim: str
    groups_claim: str
    groups_most: int


class SignedTokens:
    """Turns a token into an identity, with the keys of one issuer."""

    def __init__(self, rules: SignedTokenRules, keys: IssuerKeys) -> None:
        self._rules = rules
        self._keys = keys

    async def identity(self, token: str) -> Identity:
        """Who the token speaks of; raises `Unauthenticated`, and `ProviderUnavailable` when it cannot be told."""
        rules = self._rules
        try:
            header = jwt.get_unverified_header(token)
        except (PyJWTError, ValueError, RecursionError):
            raise Unauthenticated(MALFORMED) from None
        algorithm, key_id = header.get("alg"), header.get("kid")
        if algorithm not in rules.algorithms:
            raise Unauthenticated(f"The token must be signed by one of {', '.join(rules.algorithms)}.")
        claims = self._claims(token, await self._keys.keys(key_id, algorithm))
        return Identity(
            subject=self._subject(claims),
            issuer=rules.issuer,
            claimed=self._groups(claims),
            ends_at=self._end(claims),
        )

    async def close(self) -> None:
        """Stop fetching keys."""
        await self._keys.close()

    def _claims(self, token: str, keys: Sequence[PyJWK]) -> Mapping[str, Any]:
        """What a token says that one of some keys has signed; of those that have not, the last says why."""
        for key in keys[:-1]:
            with suppress(WrongKey):
                return self._claims_by(token, key)
        return self._claims_by(token, keys[-1])

    def _claims_by(self, token: str, key: PyJWK) -> Mapping[str, Any]:
        rules = self._rules
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[key.algorithm_name],
                issuer=rules.issuer,
                audience=list(rules.audiences),
                leeway=rules.leeway,
                options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
            )
        except InvalidSignatureError:
            raise WrongKey("The signature of the token does not hold.") from None
        except PyJWTError as error:
            raise Unauthenticated(next((text for kind, text in REASONS.items() if isinstance(error, kind)), MALFORMED)) from None
        except (ValueError, RecursionError, OverflowError):
            raise Unauthenticated(MALFORMED) from None
        return claims

    def _end(self, claims: Mapping[str, Any]) -> float:
        try:
            return float(int(claims["exp"])) + self._rules.leeway
        except OverflowError:
            raise Unauthenticated(MALFORMED) from None

    def _subject(self, claims: Mapping[str, Any]) -> str:
        given = claims.get(self._rules.principal_claim)
        if not isinstance(given, str):
            raise Unauthenticated(f"The token lacks the claim {self._rules.principal_claim!r}, which names the caller.")
        try:
            name = check_principal(given)
        except BadInput:
            name = ""
        if not name or name in RESERVED:
            raise Unauthenticated("The token names a caller that cannot be one.")
        return name

    def _groups(self, claims: Mapping[str, Any]) -> tuple[str, ...]:
        given = claim_at(claims, self._rules.groups_claim) or []
        listed = [given] if isinstance(given, str) else given
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            raise Unauthenticated(f"The claim {self._rules.groups_claim!r} of the token must list names of groups.")
        if len(listed) > self._rules.groups_most:
            raise Unauthenticated(f"The token names more than {self._rules.groups_most:,} groups.")
        return tuple(dict.fromkeys(name for one in listed if one and (name := group_principal(self._rules.issuer, one))))


def claim_at(claims: Mapping[str, Any], path: str) -> Any:
    """The claim of that name; without one what a path leads to whose parts are between dots; None where there is nothing.

    >>> claim_at({"realm_access": {"roles": ["staff"]}}, "realm_access.roles")
    ['staff']
    """
    if path in claims:
        return claims[path]
    for place in (place for place, sign in enumerate(path) if sign == "."):
        inner = claims.get(path[:place])
        if isinstance(inner, dict) and (found := claim_at(inner, path[place + 1 :])) is not None:
            return found
    return None


def group_principal(issuer: str, group: str) -> str:
    """What the principal of a claimed group is called; empty when none can be called so.

    >>> group_principal("https://login.example.org", "staff")
    'https://login.example.org#staff'
    """
    try:
        return check_principal(f"{issuer}#{group}")
    except BadInput:
        return ""
