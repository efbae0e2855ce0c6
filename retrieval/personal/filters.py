"""Filters of a caller who may not read personal data: what they ask for is masked, so no number is found by containment."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import orjson

from retrieval.entity_filter import EntityFilter
from retrieval.personal.masking import masked, masked_value
from retrieval.question import FragmentFilter

Filter = TypeVar("Filter", FragmentFilter, EntityFilter)


def masked_filter(filter: Filter) -> Filter:
    """The filter with masks in place of personal data; no stored value is a mask, so these parts match nothing."""
    if isinstance(filter, FragmentFilter):
        return replace(filter, meta=masked_json(filter.meta))
    return replace(
        filter, meta=masked_json(filter.meta), attributes=masked_json(filter.attributes),
        statuses=masked_all(filter.statuses), source_paths=masked_all(filter.source_paths),
    )  # fmt: skip


def masked_json(text: str | None) -> str | None:
    """JSON text with its values masked."""
    return None if text is None else orjson.dumps(masked_value(orjson.loads(text)), option=orjson.OPT_SORT_KEYS).decode()


def masked_all(values: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Values with masks in them."""
    return None if values is None else tuple(map(masked, values))
