"""Reads front matter: the YAML between two lines of `---` at the top of a Markdown text."""

from __future__ import annotations

import datetime
import math
from typing import Any

import yaml

from retrieval.errors import BadInput
from retrieval.text import clean
from retrieval.tuning import FRONT_MATTER_CHARACTERS

_LARGEST = 2**63


class _PlainLoader(yaml.SafeLoader):
    """YAML without aliases: a few of them expand to gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def read_front_matter(content: str) -> dict[str, Any] | None:
    """The tags as JSON, dates and numbers that JSON lacks as text.

    None when it is something else: a text between two rules, a broken template, more than 65,536 characters. It is text then.
    """
    if len(content) > FRONT_MATTER_CHARACTERS:
        return None
    try:
        read = yaml.load(content, Loader=_PlainLoader)
        return {clean(str(key)): _as_json(value) for key, value in read.items()} if isinstance(read, dict) else None
    except (yaml.YAMLError, ValueError, RecursionError, BadInput):
        return None


def _as_json(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value if math.isfinite(value) and abs(value) < _LARGEST else str(value)
    if isinstance(value, dict):
        return {clean(str(key)): _as_json(child) for key, child in value.items()}
    if isinstance(value, list | tuple | set):
        return [_as_json(child) for child in value]
    return value.isoformat() if isinstance(value, datetime.date) else clean(str(value))
