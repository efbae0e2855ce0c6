"""The bound values of filters, in the order that the statements expect."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from retrieval.entity_filter import EntityFilter
from retrieval.keys import key_digest
from retrieval.question import FragmentFilter, ScopeRule


def filter_values(filter: FragmentFilter) -> tuple[Any, ...]:
    """Whether nothing but scopes by their rule is filtered, then the parts in the order of `admitted`."""
    return (
        (filter if filter.scope_rule is None else replace(filter, scope_rule=None)).is_open,
        filter.meta,
        listed(filter.kinds),
        listed(filter.types),
        digests(filter.keys),
        listed(filter.relevance_scopes),
        filter.updated_after,
        filter.updated_before,
        *scope_values(filter.scope_rule),
    )


def scope_values(rule: ScopeRule | None) -> tuple[list[str] | None, list[str] | None]:
    """The scopes that are requested and those that are allowed."""
    return (None, None) if rule is None else (listed(rule.requested), listed(rule.allowed))


def entity_filter_values(filter: EntityFilter, at: datetime) -> tuple[Any, ...]:
    """The instant at which attributes are compared, then the parts in the order of `visible_entities`."""
    return (
        at,
        listed(filter.kinds),
        listed(filter.types),
        listed(filter.statuses),
        listed(filter.source_paths),
        digests(filter.keys),
        filter.meta,
        filter.attributes,
        listed(filter.relevance_scopes),
        filter.created_after,
        filter.created_before,
        filter.updated_after,
        filter.updated_before,
        filter.occurred_after,
        filter.occurred_before,
    )


def digests(keys: tuple[str, ...] | None) -> list[bytes] | None:
    """What keys are compared by."""
    return None if keys is None else [key_digest(key) for key in keys]


def listed(values: tuple[str, ...] | None) -> list[str] | None:
    """A tuple as an array parameter."""
    return None if values is None else list(values)
