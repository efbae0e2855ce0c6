"""Puts together what checks signed tokens, out of the settings."""

from __future__ import annotations

from app.config import Settings
from app.issuer_keys import IssuerKeys
from app.signed_tokens import SignedTokenRules, SignedTokens


def make_signed_tokens(settings: Settings) -> SignedTokens | None:
    """What checks signed tokens; None where no issuer is configured, and opaque tokens are the only ones."""
    if settings.jwt_issuer is None:
        return None
    rules = SignedTokenRules(
        issuer=settings.jwt_issuer,
        audiences=settings.jwt_audience,
        algorithms=settings.jwt_algorithms,
        leeway=settings.jwt_leeway,
        principal_claim=settings.jwt_principal_claim,
        groups_claim=settings.jwt_groups_claim,
        groups_most=settings.jwt_max_groups,
    )
    keys = IssuerKeys(settings.jwt_issuer, settings.jwt_jwks_url, fresh=settings.jwt_jwks_fresh, kept=settings.jwt_jwks_kept)
    return SignedTokens(rules, keys)
