"""What a caller sees of an error: a stable code and a sentence, with everything unexpected masked and logged by id."""

from __future__ import annotations

import math
import re
import secrets
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from graphql import FieldNode, GraphQLError, GraphQLSyntaxError

from retrieval.errors import ContextQLError, DeadlineExceeded

SHOWN = 20
LONGEST_OWN = 600
LONGEST_FOREIGN = 200
# The codes of the spec (12); a GraphQL error that carries one of them was made on purpose.
CODES = frozenset(
    {
        *(
            "BAD_INPUT",
            "NAMESPACE_NOT_FOUND",
            "UNAUTHENTICATED",
            "FORBIDDEN",
            "BAD_CURSOR",
            "CONFLICT",
            "LIMIT_EXCEEDED",
        ),
        *("DEADLINE_EXCEEDED", "OVERLOADED", "DATABASE_UNAVAILABLE", "PROVIDER_UNAVAILABLE", "READ_ONLY"),
        *("GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "INTERNAL"),
    }
)
DEADLINE_MESSAGE = "The request took longer than it may; select less, or ask again later."
_TOO_LARGE = re.compile(r"(Document contains more than|Document is nested too deeply|Source contains more than)")
_SUGGESTION = re.compile(r" Did you mean .*", re.DOTALL)
_log = structlog.stdlib.get_logger("contextql.errors")


def presented(errors: Sequence[GraphQLError]) -> list[GraphQLError]:
    """Give the errors as the caller may see them, at most 20; log the unexpected ones, without any input in the log."""
    return [_presented(error) for error in errors[:SHOWN]]


def present_exception(error: BaseException) -> GraphQLError:
    """Give one exception that happened outside of GraphQL execution the same treatment."""
    if isinstance(error, GraphQLError):
        return _presented(error)
    return _from_exception(error, GraphQLError(""))


def code_of(error: GraphQLError) -> str:
    """The stable code of a presented error."""
    return str((error.extensions or {}).get("code", "INTERNAL"))


def coded(message: str, code: str, **more: Any) -> GraphQLError:
    """Make an error of the edge itself, before or beside GraphQL; `more` goes into its extensions."""
    return GraphQLError(message, extensions={"code": code, **more})


def json_safe(value: Any) -> Any:
    """Give a value that any JSON encoder takes: non-finite numbers become null, lone surrogates `?`, objects text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else json_safe(float(value) if abs(value) < 2**1000 else math.inf)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {json_safe(str(key)): json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_safe(item) for item in value]
    return json_safe(str(value))


def _presented(error: GraphQLError) -> GraphQLError:
    cause = _cause(error)
    if cause is not None:
        return _from_exception(cause, error)
    code = (error.extensions or {}).get("code")
    if code in CODES:
        return _copy(error, _cut(error.message, LONGEST_OWN), error.extensions or {})
    if isinstance(error, GraphQLSyntaxError):
        code = "LIMIT_EXCEEDED" if _TOO_LARGE.search(error.message) else "GRAPHQL_PARSE_FAILED"
        return _copy(error, _foreign(error.message), {"code": code})
    if _is_about_input(error):
        return _copy(error, _foreign(error.message), {"code": "BAD_INPUT"})
    return _masked(error, error)


def _cause(error: GraphQLError) -> BaseException | None:
    """The exception that a resolver raised, under however many located copies of it."""
    current: BaseException | None = error
    while isinstance(current, GraphQLError):
        current = current.original_error
    return current


def _from_exception(cause: BaseException, error: GraphQLError) -> GraphQLError:
    if isinstance(cause, ContextQLError) and cause.code != "INTERNAL":
        return _copy(error, _cut(cause.message, LONGEST_OWN), {**(error.extensions or {}), "code": cause.code})
    if isinstance(cause, TimeoutError):
        return _copy(error, DEADLINE_MESSAGE, {"code": DeadlineExceeded.code})
    return _masked(error, cause)


def _is_about_input(error: GraphQLError) -> bool:
    """Variables and arguments that do not fit: the library points at their nodes, and at fields for everything else."""
    if error.path is None:
        return True
    return bool(error.nodes) and not isinstance(error.nodes[0], FieldNode)  # type: ignore[index]


def _masked(error: GraphQLError, cause: BaseException) -> GraphQLError:
    error_id = secrets.token_hex(8)
    _log.error("unexpected error", error_id=error_id, fields=_fields(error), **describe(cause))
    message = f"Something went wrong on our side; quote id {error_id} when you report it."
    return _copy(error, message, {"code": "INTERNAL", "id": error_id})


def describe(error: BaseException) -> dict[str, Any]:
    """Say where an exception came from without its message, which may repeat what the caller sent."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain and len(chain) < 5:
        chain.append(current)
        current = current.__cause__ or current.__context__
    return {
        "raised": [f"{type(item).__module__}.{type(item).__qualname__}" for item in chain],
        "sqlstate": next((item.sqlstate for item in chain if hasattr(item, "sqlstate")), None),
        "frames": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)[-12:]],
    }


def _fields(error: GraphQLError) -> list[str]:
    # Aliases are the caller's words: the schema's own field names say enough.
    return [node.name.value for node in error.nodes or () if isinstance(node, FieldNode)]


def _copy(error: GraphQLError, message: str, extensions: Mapping[str, Any]) -> GraphQLError:
    return GraphQLError(
        json_safe(message),
        nodes=error.nodes,
        source=error.source,
        positions=error.positions,
        path=error.path,
        extensions=json_safe(extensions),
    )


def _foreign(message: str) -> str:
    return _cut(_SUGGESTION.sub("", message), LONGEST_FOREIGN)


def _cut(message: str, longest: int) -> str:
    return message if len(message) <= longest else message[: longest - 1] + "…"
