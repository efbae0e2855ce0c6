"""What the caller may read, and what is in it."""

from __future__ import annotations

from typing import Annotated

import strawberry

from resolvers import knowledge as resolve
from resolvers import tools as resolve_tools
from resolvers.arguments import Info
from retrieval.knowledge import Knowledge as KnowledgeRun
from schema.entity import field
from schema.enums import Role, ToolSurface
from schema.scalars import JSON


@strawberry.type(description="A namespace: a named, isolated knowledge base.")
class NamespaceSummary:
    name: str = field("The name.")
    title: str | None = field("A title for people.")
    entity_count: int = field("Entities that you may see.", resolver=resolve.entity_count)
    fragment_count: int = field("Fragments that you may see.", resolver=resolve.fragment_count)
    fact_count: int = field("Facts that you may see and that are not retracted.", resolver=resolve.fact_count)


@strawberry.type(description="A tool as chat models that call functions take it, with the document that runs it.")
class ToolDefinition:
    name: str = field("Its name, the same in every answer.")
    description: str = field("What it does, for the model.")
    parameters: JSON = field("JSON Schema of its arguments.")
    document: str = field("The query that runs it: send it with the arguments of the model as variables, as who is asking.")


Surface = Annotated[ToolSurface, strawberry.argument(description="Who the tools are for.")]


async def tools(root: KnowledgeRun, info: Info, surface: Surface = ToolSurface.AGENT) -> list[resolve_tools.ToolDefinition]:
    """The tools of a surface."""
    return await resolve_tools.tools(root, info._raw_info.schema, surface.name)


@strawberry.type(description="The state of some knowledge bases.")
class Knowledge:
    is_empty: bool = field("True while there is no fragment to search; flips with the first one.")
    namespaces: list[NamespaceSummary] = field("The namespaces.")
    pending_embeddings: int = field("Fragments that are found by words and wait to be found by meaning.")
    tools: list[ToolDefinition] = field(
        "Tools to offer to a chat model, made of this schema; none while there is nothing to search.",
        resolver=tools,
        graphql_type=list[ToolDefinition],
    )


@strawberry.type(description="A namespace and the roles held in it.")
class NamespaceAccess:
    name: str = field("The name.")
    roles: list[Role] = field("The roles.", resolver=resolve.roles)


@strawberry.type(description="Who is asking.")
class Viewer:
    principal: str = field("Name of the principal.", resolver=resolve.principal)
    acting_for: str | None = field(
        "Name of the user that the principal, a service, acts for: the groups and namespaces are those of the user.",
        resolver=resolve.acting_for,
    )
    groups: list[str] = field("All groups it belongs to, at any depth.")
    namespaces: list[NamespaceAccess] = field("Namespaces that it may read.", resolver=resolve.namespaces)
