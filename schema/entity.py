"""Entities and what hangs on them: fragments, facts, source cards, provenance, pages."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import strawberry

from resolvers import entities as resolve_entities
from resolvers import entity as resolve
from resolvers import facts as resolve_facts
from resolvers.arguments import AsOf, First, Info
from resolvers.entity import After
from retrieval import records
from schema.enums import Direction, EntityKind, Evidence, ProvenanceKind
from schema.scalars import JSON

if TYPE_CHECKING:
    from schema.source import Source

Predicates = Annotated[list[str] | None, strawberry.argument(description="Predicates; left out: all.")]
Way = Annotated[Direction, strawberry.argument(description="Facts about it, facts that lead to it, or both.")]
LazySource = Annotated["Source", strawberry.lazy("schema.source")]


async def facts_around(
    root: records.Entity,
    info: Info,
    predicates: Predicates = None,
    direction: Way = Direction.BOTH,
    as_of: AsOf = None,
    known_at: resolve_facts.KnownAt = None,
    first: First = 20,
    after: After = None,
) -> resolve_facts.FactConnection:
    """A page of the facts around an entity."""
    return await resolve_facts.facts(root, info, predicates, direction.name, as_of, known_at, first, after)


def field(description: str, **options: Any) -> Any:
    """A described field."""
    return strawberry.field(description=description, **options)


@strawberry.interface(description="Anything that `node` finds by its id.")
class Node:
    id: strawberry.ID = field("Opaque id, the same in every answer.")


@strawberry.type(description="Where a page stands.")
class PageInfo:
    has_next_page: bool = field("Whether there is more after this page.")
    has_previous_page: bool = field("Whether there is more before this page.")
    start_cursor: str | None = field("Cursor of the first item.")
    end_cursor: str | None = field("Cursor of the last item; give it as `after` for the next page.")


@strawberry.type(description='What an interface shows as "taken from".')
class SourceCard:
    namespace: str = field("The namespace.")
    key: str = field("The key of the entity.")
    title: str = field("Its title.")
    source_path: str | None = field("Where people find it, such as a site or a folder.")
    entity: Entity = field("The entity.", resolver=resolve.itself)
    source: LazySource | None = field("The stored original, if the entity has text.", resolver=resolve.source)


@strawberry.type(description="One step of the chain down to what something rests on.")
class ProvenanceStep:
    kind: ProvenanceKind = field("What the step is.")
    label: str = field("A title for people.")
    namespace: str | None = field("The namespace of what it names.")
    key: str | None = field("The key of what it names.")
    at: datetime | None = field("When it happened, was changed or was fetched.")
    by: str | None = field("Who or what brought it: an author or a connector.")
    uri: str | None = field("Where the content was fetched from.")
    sha256: str | None = field("SHA-256 of the content, in hex.")
    node: Node | None = field("The object itself.")


@strawberry.type(description="A searchable piece of a source.")
class Fragment(Node):
    id: strawberry.ID = field("Opaque id, the same in every answer.", resolver=resolve.fragment_id)
    namespace: str = field("The namespace.", resolver=resolve.fragment_namespace)
    ordinal: int = field("Place in the text, from 0.")
    title: str = field("Title of the document.")
    heading: str = field('Path of headings, joined by " › "; empty at the top.')
    text: str = field("The text; with `neutralized`, the form that is safe inside a prompt.", resolver=resolve.fragment_text)
    meta: JSON = field("Tags of the fragment.")
    identifiers: list[str] = field("Identifiers found in the text, folded to lower case.")
    token_estimate: int = field(
        "Tokens of the text: ceil(characters / 3.0), or exact where a tokenizer is set up.", resolver=resolve.fragment_tokens
    )
    entity: Entity = field("The entity it belongs to.")
    card: SourceCard = field("What an interface shows as the source.", resolver=resolve.fragment_card)
    provenance: list[ProvenanceStep] | None = field("The chain down to the origin.", resolver=resolve.fragment_provenance)

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        """Whether a value is a fragment."""
        return isinstance(value, records.Fragment)


@strawberry.type(description="A fragment in a page.")
class FragmentEdge:
    cursor: str = field("Cursor of the fragment.")
    node: Fragment = field("The fragment.")


@strawberry.type(description="A page of fragments, in the order of the text.")
class FragmentConnection:
    edges: list[FragmentEdge] = field("The fragments with their cursors.")
    nodes: list[Fragment] = field("The fragments.")
    page_info: PageInfo = field("Where the page stands.")
    total_count: int | None = field("How many there are in all.", resolver=resolve.fragments_counted)


@strawberry.type(description="Anything with a key: a document, an episode, an observation, a thing.")
class Entity(Node):
    id: strawberry.ID = field("Opaque id, the same in every answer.", resolver=resolve.entity_id)
    namespace: str = field("The namespace.")
    key: str = field("The key, unique in its namespace.")
    kind: EntityKind = field("What it is.")
    type: str = field("A finer name for what it is, such as `document` or `ticket`.")
    title: str = field("Title for people.")
    status: str | None = field("State, such as `open`.")
    source_path: str | None = field("Where people find it, such as a site or a folder.")
    restricted: bool = field("Whether only those with a grant on it see it.")
    attributes: JSON = field("Attributes in the version that holds at `asOf` (default: now).", resolver=resolve.attributes)
    relevance_scopes: list[str] = field("What it is about, as `type:id`.")
    created_at: datetime = field("When it was first stored.")
    updated_at: datetime = field("When it was last changed.")
    occurred_at: datetime | None = field("When it happened, for episodes and observations.")
    source: LazySource | None = field("The stored original, if it has text.", resolver=resolve.source)
    fragments: FragmentConnection | None = field("Its fragments, in the order of the text.", resolver=resolve.fragments)
    provenance: list[ProvenanceStep] | None = field("The chain down to the origin.", resolver=resolve.entity_provenance)
    facts: FactConnection | None = field(
        "The facts around it that hold at `asOf`, as recorded at `knownAt`: by predicate, then oldest first.",
        resolver=facts_around,
    )

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        """Whether a value is an entity."""
        return isinstance(value, records.Entity)


@strawberry.type(description="An entity in a page.")
class EntityEdge:
    cursor: str = field("Cursor of the entity.")
    node: Entity = field("The entity.")


@strawberry.type(description="A page of entities.")
class EntityConnection:
    edges: list[EntityEdge] = field("The entities with their cursors.", resolver=resolve_entities.edges)
    nodes: list[Entity] = field("The entities.", resolver=resolve_entities.nodes)
    page_info: PageInfo = field("Where the page stands.", resolver=resolve_entities.info)
    total_count: int | None = field("How many there are in all.", resolver=resolve_entities.total_count)


@strawberry.type(description="A statement about an entity, with when it holds and who stated it; an edge when it has an object.")
class Fact:
    fact_id: strawberry.ID = field("Id of the fact; all its recorded rows share it.", resolver=resolve.fact_id)
    namespace: str = field("The namespace.")
    subject: Entity = field("What it is about.", resolver=resolve.fact_subject)
    predicate: str = field("What it says, such as `links_to`.")
    object: Entity | None = field("The entity it leads to.", resolver=resolve.fact_object)
    value: JSON | None = field("The value, where it leads to no entity.")
    valid_from: datetime | None = field("Since when it holds; null: always did.")
    valid_to: datetime | None = field("Until when it holds, exclusive; null: still does.")
    recorded_at: datetime = field("When this row was recorded.")
    retracted_at: datetime | None = field("When this row was retracted.")
    evidence: Evidence = field("How well it is supported.")
    relevance_scopes: list[str] = field("What it is about, as `type:id`.")
    conflict: bool = field(
        "Whether another fact says something else of the same subject, by a predicate that holds one value, and both hold at "
        "`asOf` as they were recorded at `knownAt` (default: now).",
        resolver=resolve_facts.conflict,
    )
    conflicts_with: list[Fact] | None = field(
        "Those other facts, oldest first, up to 100.", resolver=resolve_facts.conflicts_with
    )
    in_force: bool = field("Whether it holds at `asOf` (default: now) and is not retracted.", resolver=resolve.in_force)
    provenance: list[ProvenanceStep] | None = field("Down to the places that stated it.", resolver=resolve.fact_provenance)


@strawberry.type(description="A fact in a page.")
class FactEdge:
    cursor: str = field("Cursor of the fact.")
    node: Fact = field("The fact.")


@strawberry.type(description="A page of facts.")
class FactConnection:
    edges: list[FactEdge] = field("The facts with their cursors.")
    nodes: list[Fact] = field("The facts.")
    page_info: PageInfo = field("Where the page stands.")
    total_count: int | None = field("How many there are in all.", resolver=resolve_facts.facts_counted)
