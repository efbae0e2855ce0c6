"""The settings that say who is let in with a token of another issuer."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, NoDecode

Seconds = Annotated[float, Field(gt=0, le=86_400)]
Names = Annotated[tuple[str, ...], NoDecode]
ADDRESS = re.compile(r"(https?)://([^/\s?#@]+)(/[^\s#]*)?")
PUBLIC_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")


class IdentitySettings(BaseSettings):
    """The fields about signed tokens; they are needed together or not at all."""

    jwt_issuer: str | None = Field(
        default=None, min_length=1, max_length=400,
        description="Issuer of signed tokens (JWT), as their claim `iss` has it. Unset: only tokens made by "
        "`contextql token` are taken.",
    )  # fmt: skip
    jwt_audience: Names = Field(
        default=(),
        description="Audiences, separated by commas, one of which a signed token must be for; needed with CB_JWT_ISSUER.",
    )
    jwt_jwks_url: str | None = Field(
        default=None,
        description="Address of the issuer's public keys (JWKS), by https unless it is this machine. Unset: that which the "
        "issuer names in its `/.well-known/openid-configuration`; CB_JWT_ISSUER must be an address then.",
    )
    jwt_algorithms: Names = Field(
        default=("RS256", "PS256", "ES256", "EdDSA"),
        description="Algorithms that a signed token may be signed by, separated by commas; only those with a public key.",
    )
    jwt_leeway: float = Field(
        default=60.0, ge=0, le=900, description="Seconds that the issuer's clock may differ from ours, in `exp`, `nbf` and `iat`."
    )
    jwt_principal_claim: str = Field(
        default="sub", min_length=1, max_length=200, description="Claim of a signed token that names the principal."
    )
    jwt_groups_claim: str = Field(
        default="groups",
        min_length=1,
        max_length=200,
        description="Claim of a signed token that lists groups; each is the group `issuer#group` for as long as the token holds. "
        "Of a name that no claim has, the parts between dots lead inward, as in `realm_access.roles`.",
    )
    jwt_max_groups: int = Field(
        default=200, ge=1, le=2_000, description="Groups that a signed token may list; one with more is refused."
    )
    jwt_jwks_fresh: Seconds = Field(default=300.0, description="Seconds before the issuer's keys are read again.")
    jwt_jwks_kept: Seconds = Field(
        default=3_600.0, description="Seconds that the issuer's keys are good for while they cannot be read again."
    )

    @field_validator("jwt_audience", "jwt_algorithms", mode="before")
    @classmethod
    def _names(cls, value: object) -> object:
        return separated_by_commas(value)

    @field_validator("jwt_audience", "jwt_jwks_url")
    @classmethod
    def _goes_with_the_issuer(cls, value: Any, info: ValidationInfo) -> Any:
        issuer = info.data.get("jwt_issuer", "unknown")
        if issuer is None and value:
            raise ValueError("does nothing without CB_JWT_ISSUER; set that too")
        if issuer is not None and not value and "jwt_issuer" in info.data:
            if info.field_name == "jwt_audience":
                raise ValueError("is needed with CB_JWT_ISSUER")
            if not is_safe_address(issuer):
                raise ValueError("is needed with a CB_JWT_ISSUER that is no address that begins with https://")
        return value

    @field_validator("jwt_jwks_url")
    @classmethod
    def _is_safe(cls, value: str | None) -> str | None:
        if value is not None and ADDRESS.fullmatch(value) is None:
            raise ValueError("must be an address that begins with https://")
        if value is not None and not is_safe_address(value):
            raise ValueError("must begin with https://: whoever stands between could give keys of its own")
        return value

    @field_validator("jwt_algorithms")
    @classmethod
    def _have_public_keys(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if name not in PUBLIC_ALGORITHMS:
                raise ValueError(f"{name!r} is none of {', '.join(PUBLIC_ALGORITHMS)}, which have a public key")
        if not value:
            raise ValueError("names no algorithm")
        return value


def is_safe_address(text: str) -> bool:
    """Whether a text is an address by https, or one by http of this machine."""
    match = ADDRESS.fullmatch(text)
    return match is not None and (match[1] == "https" or is_on_this_machine(text))


def is_on_this_machine(address: str) -> bool:
    """Whether an address leads to this machine; one that cannot be read leads nowhere."""
    try:
        return is_loopback((urlsplit(address).hostname or "").rstrip("."))
    except ValueError:
        return False


def separated_by_commas(value: object) -> object:
    """The parts of a text between commas; anything else as it is."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
