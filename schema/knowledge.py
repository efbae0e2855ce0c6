"""What the caller may read, and what is in it."""

from __future__ import annotations

import strawberry

from resolvers import knowledge as resolve
from schema.entity import field
from schema.enums import Role


@strawberry.type(description="A namespace: a named, isolated knowledge base.")
class NamespaceSummary:
    name: str = field("The name.")
    title: str | None = field("A title for people.")
    entity_count: int = field("Entities that you may see.", resolver=resolve.entity_count)
    fragment_count: int = field("Fragments that you may see.", resolver=resolve.fragment_count)
    fact_count: int = field("Facts that you may see and that are not retracted.", resolver=resolve.fact_count)


@strawberry.type(description="The state of some knowledge bases.")
class Knowledge:
    is_empty: bool = field("True while there is no fragment to search; flips with the first one.")
    namespaces: list[NamespaceSummary] = field("The namespaces.")
    pending_embeddings: int = field("Fragments that are found by words and wait to be found by meaning.")


@strawberry.type(description="A namespace and the roles held in it.")
class NamespaceAccess:
    name: str = field("The name.")
    roles: list[Role] = field("The roles.", resolver=resolve.roles)


@strawberry.type(description="Who is asking.")
class Viewer:
    principal: str = field("Name of the principal.", resolver=resolve.principal)
    groups: list[str] = field("All groups it belongs to, at any depth.")
    namespaces: list[NamespaceAccess] = field("Namespaces that it may read.", resolver=resolve.namespaces)
