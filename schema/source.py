"""The stored original of an entity that has text."""

from __future__ import annotations

from typing import Any

import strawberry

from resolvers import entity as resolve_entity
from resolvers import facts as resolve_facts
from resolvers import source as resolve
from retrieval import records
from schema.entity import Entity, FactConnection, FragmentConnection, Node, ProvenanceStep, field
from schema.enums import ContentSource


@strawberry.type(description="Personal data that were found in a source.")
class PersonalDataFinding:
    kind: str = field("The kind, such as EMAIL.")
    count: int = field("How many of them.")


@strawberry.type(description="The stored original of an entity: content as it came, and where it came from.")
class Source(Node):
    id: strawberry.ID = field("Opaque id, the same in every answer.", resolver=resolve.source_id)
    namespace: str = field("The namespace.", resolver=resolve.namespace)
    key: str = field("The key of its entity.", resolver=resolve.key)
    title: str = field("Title for people.", resolver=resolve.title)
    source_path: str | None = field("Where people find it, such as a site or a folder.", resolver=resolve.source_path)
    media_type: str = field("Media type of the content, such as text/markdown.")
    content: str | None = field("The whole content.", resolver=resolve.content)
    content_source: ContentSource = field("Whether the content is the original or stitched from fragments.")
    fragment_count: int = field("How many fragments it was split into.")
    personal_data: list[PersonalDataFinding] = field("Personal data that were found in it.", resolver=resolve.personal_data)
    provenance: list[ProvenanceStep] | None = field("Where the content came from.", resolver=resolve.provenance)
    entity: Entity = field("The entity whose text this is.")
    fragments: FragmentConnection | None = field("Its fragments, in the order of the text.", resolver=resolve_entity.fragments)
    stated_facts: FactConnection | None = field(
        "The facts in the record that were stated in it, in the order in which they were first recorded.",
        resolver=resolve_facts.stated_facts,
    )

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        """Whether a value is a source."""
        return isinstance(value, records.Source)
