"""The bound values of a fragment filter, in the order that the statements expect."""

from __future__ import annotations

from typing import Any

from retrieval.keys import key_digest
from retrieval.question import FragmentFilter


def filter_values(filter: FragmentFilter) -> tuple[Any, ...]:
    """Whether nothing is filtered, then meta, kinds, types, key digests, scopes, updated after, updated before."""
    return (
        filter.is_open,
        filter.meta,
        listed(filter.kinds),
        listed(filter.types),
        None if filter.keys is None else [key_digest(key) for key in filter.keys],
        listed(filter.relevance_scopes),
        filter.updated_after,
        filter.updated_before,
    )


def listed(values: tuple[str, ...] | None) -> list[str] | None:
    """A tuple as an array parameter."""
    return None if values is None else list(values)
