"""The errors that a caller may see, each with its stable code."""

from __future__ import annotations


class ContextQLError(Exception):
    """An error whose message is meant for the caller; `code` is stable (spec 12)."""

    code = "INTERNAL"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class BadInput(ContextQLError):
    """A value is outside its limit or malformed; the message says what to change."""

    code = "BAD_INPUT"


class NamespaceNotFound(ContextQLError):
    """The namespace is unknown or closed to the caller: the two look alike."""

    code = "NAMESPACE_NOT_FOUND"

    def __init__(self, name: str) -> None:
        super().__init__(f"Namespace {name!r} does not exist or is not open to you; `viewer` lists those that are.")


class Unauthenticated(ContextQLError):
    """No credentials, or credentials that do not hold."""

    code = "UNAUTHENTICATED"


class Forbidden(ContextQLError):
    """The caller is known, and lacks the role that the operation needs."""

    code = "FORBIDDEN"


class BadCursor(ContextQLError):
    """A cursor that was not issued for this caller and these arguments."""

    code = "BAD_CURSOR"


class Conflict(ContextQLError):
    """The write contradicts what is stored, or an idempotency key was used for another input."""

    code = "CONFLICT"


class LimitExceeded(ContextQLError):
    """The request is too large or too costly (body, document, depth, aliases, points)."""

    code = "LIMIT_EXCEEDED"


class DeadlineExceeded(ContextQLError):
    """A stage or the whole request overran its time."""

    code = "DEADLINE_EXCEEDED"


class Overloaded(ContextQLError):
    """The server has no room for the request now; retrying later is safe."""

    code = "OVERLOADED"


class DatabaseUnavailable(ContextQLError):
    """The database does not answer; retrying later is safe."""

    code = "DATABASE_UNAVAILABLE"


class ProviderUnavailable(ContextQLError):
    """An embedding or chat provider failed, timed out or gave a reply that cannot be used."""

    code = "PROVIDER_UNAVAILABLE"


class ReadOnly(ContextQLError):
    """The database takes no writes now."""

    code = "READ_ONLY"
