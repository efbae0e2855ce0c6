"""A typed walk along the predicates of domain packs: where it starts, its steps, what it gives."""

from __future__ import annotations

from datetime import datetime
from enum import Enum

import strawberry

from resolvers import typed as resolve
from retrieval.typed import question
from schema.entity import Entity, Fact, SourceCard, field
from schema.enums import Direction, Evidence
from schema.scalars import JSON
from schema.traced import LazyTrace, trace_field, trace_id_field


@strawberry.enum(description="Where a step of a typed walk begins.")
class StepOrigin(Enum):
    ANCHORS = strawberry.enum_value("ANCHORS", description="At the anchors.")
    PREVIOUS = strawberry.enum_value(
        "PREVIOUS", description="At all that the step before came to, new or not; the first step begins at the anchors."
    )


@strawberry.enum(description="How an anchor was resolved, the surest first.")
class AnchorResolution(Enum):
    KEY = strawberry.enum_value("KEY", description="The value is the key.")
    ALIAS = strawberry.enum_value("ALIAS", description="The value is another name that a domain pack gives the key.")
    ID_PATTERN = strawberry.enum_value(
        "ID_PATTERN", description="A pattern of a domain pack found the identifier in the value; of each namespace the first 20."
    )
    SEMANTIC = strawberry.enum_value("SEMANTIC", description="The text nearest in meaning; only with `allowSemantic`.")


@strawberry.input(description="What to start from. Each namespace is looked through by key, then by alias, then by identifier.")
class TypedAnchorInput:
    kind: str = strawberry.field(description="The type of the entity, such as `ticket`.")
    value: str = strawberry.field(description="Its key, another name of it, or a text that holds its identifier.")
    namespace: str | None = strawberry.field(
        description="Its namespace; left out: every namespace asked for that has it.", default=None
    )

    def plain(self) -> question.Anchor:
        """The plain value."""
        return resolve.anchor_value(self.kind, self.value, self.namespace)


@strawberry.input(description="One step: over facts of one predicate that hold at `asOf`.")
class TraverseStep:
    relation: str = strawberry.field(description="The predicate; where domain packs declare predicates, one of those.")
    direction: Direction = strawberry.field(description="Which way to follow facts.", default=Direction.OUT)
    depth: int = strawberry.field(description="How many facts in a row at most, 1 to 5.", default=1)
    limit: int = strawberry.field(
        description="How many new entities at most, 1 to 200: nearest first, then those stored first.", default=50
    )
    from_: StepOrigin = strawberry.field(description="Where it begins.", default=StepOrigin.ANCHORS, name="from")

    def plain(self) -> question.TypedStep:
        """The plain value."""
        return resolve.step_value(self.relation, self.direction.name, self.depth, self.limit, self.from_.name)


@strawberry.type(description="An anchor with an entity that it stands for.")
class ResolvedAnchor:
    kind: str = field("The type that was asked for.")
    value: str = field("What was given for it.")
    entity: Entity = field("The entity.")
    resolved_by: AnchorResolution = field("How it was resolved.")
    evidence: Evidence = field("INFERRED when it was found by meaning, else ASSERTED.")


@strawberry.type(description="An anchor that stands for nothing that you may see.")
class UnresolvedAnchor:
    kind: str = field("The type that was asked for.")
    value: str = field("What was given for it.")
    reason: str = field("Why, for people.")


@strawberry.type(description="An entity of a typed walk, as it was at `asOf`.")
class TypedItem:
    entity: Entity = field("The entity.")
    attributes: JSON = field("Its attributes in the version that held at `asOf`.")
    version_id: strawberry.ID = field(
        "Opaque id of that version; where no version held yet, one that stands for that.", resolver=resolve.version_id
    )
    valid_from: datetime | None = field("Since when the version holds; null: always did.")
    valid_to: datetime | None = field("Until when it holds, exclusive; null: still does.")
    distance: int = field("How many facts it is from the nearest anchor, over the facts that were walked; 0 is an anchor.")
    via: list[Fact] = field("The walked facts that lead to it from entities one nearer.", resolver=resolve.via)


@strawberry.type(description="The items of one type.")
class TypedSection:
    type: str = field("The type of the entities.")
    items: list[TypedItem] = field("Anchors too; nearest first, then by key, then by namespace.")


@strawberry.type(description="Ids of all that the answer rests on, in the order in which it is shown, for your own audit.")
class UsedSet:
    entities: list[strawberry.ID] = field("The entities of all items.", resolver=resolve.used_entities)
    facts: list[strawberry.ID] = field("The facts that were walked.", resolver=resolve.used_facts)
    versions: list[strawberry.ID] = field("The versions of all items.", resolver=resolve.used_versions)


@strawberry.type(
    description="What a typed walk found, without any ranking: equal data, caller and arguments with `asOf` give equal bytes."
)
class TypedContext:
    anchors: list[ResolvedAnchor] = field("The anchors that stand for something, in the order given, then by namespace.")
    unresolved: list[UnresolvedAnchor] = field("The anchors that stand for nothing, in the order given.")
    sections: list[TypedSection] = field("Anchors and what was found, a section for each type, by its name.")
    facts: list[Fact] = field("The facts that were walked, by namespace, predicate and age.")
    used: UsedSet = field("All that was used.")
    sources: list[SourceCard] | None = field("Cards of the items, then of what stated the facts, each once.")
    truncated: bool = field(
        "Whether the limit of a step, or the bound of 400 facts an entity and way, left out something you may see."
    )
    trace_id: strawberry.ID | None = trace_id_field()
    trace: LazyTrace | None = trace_field()
