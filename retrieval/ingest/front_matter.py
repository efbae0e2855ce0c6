"""Turns front matter and given meta tags into JSON that PostgreSQL can keep."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from typing import Any

import yaml

from retrieval.errors import BadInput
from retrieval.text import clean
from retrieval.tuning import FRONT_MATTER_CHARACTERS, META_DEPTH, META_VALUES

_LARGEST = 2**63


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases: a few of them expand to gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def read_front_matter(content: str) -> dict[str, Any] | None:
    """The tags of a front matter in YAML; None when it is something else (a text between two rules, a broken template)."""
    if len(content) > FRONT_MATTER_CHARACTERS:
        return None
    try:
        read = yaml.load(content, Loader=_PlainLoader)
        return clean_meta(read) if isinstance(read, dict) else None
    except (yaml.YAMLError, ValueError, RecursionError, BadInput):
        return None


def clean_meta(meta: Mapping[Any, Any]) -> dict[str, Any]:
    """The tags with cleaned keys and values; dates become ISO text.

    Raises `BadInput` for numbers that JSON lacks, more than 10,000 values, and nesting deeper than 20.
    """
    return _Cleaner().mapping(meta, 0)


class _Cleaner:
    def __init__(self) -> None:
        self.left = META_VALUES

    def mapping(self, values: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        return {clean(str(key), "A meta key"): self.value(value, depth + 1) for key, value in values.items()}

    def value(self, value: Any, depth: int) -> Any:
        self.left -= 1
        if self.left < 0 or depth > META_DEPTH:
            raise BadInput(f"The meta tags have more than {META_VALUES:,} values or nest deeper than {META_DEPTH}; send fewer.")
        if isinstance(value, str):
            return clean(value, "A meta value")
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return _number(value)
        if isinstance(value, Mapping):
            return self.mapping(value, depth)
        if isinstance(value, list | tuple | set | frozenset):
            return [self.value(item, depth + 1) for item in value]
        if isinstance(value, datetime.date | datetime.time):
            return value.isoformat()
        return clean(str(value), "A meta value")


def _number(value: int | float) -> int | float:
    if not math.isfinite(value) or (isinstance(value, int) and abs(value) >= _LARGEST):
        raise BadInput("A meta number is infinite, not a number, or longer than 64 bits; send it as text.")
    return value
