"""Which entities a list, a count or the sql channel is about: a value over a closed list of parts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

import orjson

Values = tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class EntityFilter:
    """The parts that an entity must meet, all of them.

    None is as left out, an empty list matches nothing. Bounds are exclusive; contradictory ones match nothing. Filters that
    mean the same are equal, whatever the order of their values.
    """

    kinds: Values = None
    types: Values = None
    statuses: Values = None
    source_paths: Values = None
    keys: Values = None
    meta: str | None = None
    """JSON text of the pairs that the entity's meta must contain."""
    attributes: str | None = None
    """JSON text of the pairs that its attributes must contain, in the version that holds."""
    relevance_scopes: Values = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    occurred_after: datetime | None = None
    occurred_before: datetime | None = None

    def __post_init__(self) -> None:
        for name in ("kinds", "types", "statuses", "source_paths", "keys", "relevance_scopes"):
            values = getattr(self, name)
            if values is not None:
                object.__setattr__(self, name, tuple(sorted(set(values))))

    @property
    def is_open(self) -> bool:
        """True when nothing is filtered."""
        return self == EntityFilter()

    @property
    def digest(self) -> str:
        """SHA-256 in hex, the same for filters that mean the same: what a cursor is bound to."""
        return hashlib.sha256(orjson.dumps(self)).hexdigest()
