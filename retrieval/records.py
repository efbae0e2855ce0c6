"""What is stored, as a visible caller sees it: entities, fragments, sources and facts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Entity:
    """Anything with a key."""

    ns: int
    entity_id: int
    namespace: str
    key: str
    kind: str
    type: str
    title: str
    status: str | None
    source_path: str | None
    restricted: bool
    meta: dict[str, Any]
    relevance_scopes: tuple[str, ...]
    created_at: datetime
    updated_at: datetime
    occurred_at: datetime | None


@dataclass(frozen=True, slots=True)
class Fragment:
    """A searchable piece of a source, with the entity it belongs to."""

    ns: int
    fragment_id: int
    entity: Entity
    ordinal: int
    title: str
    heading: str
    text: str
    meta: dict[str, Any]
    identifiers: tuple[str, ...]
    sealed: bool = False
    """Whether title, heading and text are known to hold nothing to mask, and the text nothing to make safe."""


@dataclass(frozen=True, slots=True)
class PersonalDataFinding:
    """How many spans of a kind of personal data are in a source."""

    kind: str
    count: int


@dataclass(frozen=True, slots=True)
class Source:
    """The stored original of an entity that has text; the content itself is loaded apart."""

    entity: Entity
    content_source: str
    media_type: str
    sha256: str
    connector: str | None
    uri: str | None
    author: str | None
    fetched_at: datetime | None
    fragment_count: int
    personal_data: tuple[PersonalDataFinding, ...]


EVIDENCE = {"INFERRED": 1, "OBSERVED": 2, "ASSERTED": 3}
"""How well a fact is supported, as it is stored."""


class Fact(NamedTuple):
    """One recorded row of a fact; an edge of the graph when it has an object."""

    # A tuple, since a page has a hundred: made in a quarter of the time of a frozen dataclass.

    ns: int
    namespace: str
    row_id: int
    fact_id: int
    subject_id: int
    predicate: str
    object_id: int | None
    value: Any
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime
    retracted_at: datetime | None
    evidence: int
    relevance_scopes: tuple[str, ...]
