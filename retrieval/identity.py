"""What a request proves about its caller, before anything is looked up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """The digest of an opaque token, the claims of a signed one, or the local administrator; and for whom it acts."""

    token_digest: bytes | None = None
    """SHA-256 of an opaque bearer token."""
    is_local_administrator: bool = False
    """True for a caller without a token on a server that trusts its own machine."""
    subject: str | None = None
    """The principal that a signed token names."""
    issuer: str | None = None
    """Who made that token, as it is written there."""
    claimed: tuple[str, ...] = ()
    """The groups that it names, as principals are called: `issuer#group`."""
    ends_at: float | None = None
    """When a signed token ends, in seconds since 1970, its leeway included."""
    acts_for: str | None = None
    """The user that the request is made for; an empty name is nobody's, and so refused."""
