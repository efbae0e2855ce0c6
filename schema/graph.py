"""A walk over facts: where it starts, which way it goes, what it gives."""

from __future__ import annotations

import strawberry

from retrieval import subgraph
from schema.entity import Fact, field
from schema.search import Neighbor


@strawberry.input(description="An entity by its key.")
class EntityRef:
    namespace: str | None = strawberry.field(
        description="Its namespace; left out: every namespace asked for that has the key.", default=None
    )
    key: str = strawberry.field(description="Its key.")

    def value(self) -> subgraph.EntityRef:
        """The plain value."""
        return subgraph.EntityRef(self.namespace, self.key)


@strawberry.type(description="What a walk from some entities found; select what you need, and only that is loaded.")
class Subgraph:
    entities: list[Neighbor] = field("The entities around the start, nearest first, then more facts walked; never the start.")
    facts: list[Fact] = field("Every fact that was walked between the start and these entities, loops too, as recorded.")
    truncated: bool = field("Whether the limit, or the bound of 400 facts an entity and way, left out something you may see.")
