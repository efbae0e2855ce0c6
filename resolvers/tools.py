"""Tool definitions for chat models, made of the schema: parameters out of arguments, each with the document that runs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphql import GraphQLField, GraphQLSchema, Undefined

from resolvers import json_schema
from retrieval.knowledge import Knowledge

CARD = "namespace key title sourcePath"
ENTITY = "namespace key kind type title status sourcePath"
HIT = f"score card {{ {CARD} }} fragment {{ id heading text(neutralized: true) }}"
FACT = "factId namespace predicate subject { key title } object { key title } value validFrom validTo evidence"


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool as chat models take it; `document` runs it with the model's arguments as variables."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    document: str


@dataclass(frozen=True, slots=True)
class Part:
    """A root field of a tool: which of its arguments the model fills, what comes back, and the switch that selects it."""

    field: str
    arguments: tuple[str, ...]
    selection: str
    switch: str | None = None
    is_on: bool = True


@dataclass(frozen=True, slots=True)
class Tool:
    """What a tool is made of."""

    name: str
    description: str
    parts: tuple[Part, ...]


TOOLS = {
    "AGENT": (
        Tool(
            "search",
            "Find passages of the knowledge base for a question, by meaning and by words at once, best first. Ask in the words "
            "that the answer would use; names, error codes, ticket numbers and file names are found exactly. Cite what you use "
            "by `key`.",
            (Part("search", ("question", "namespaces", "k", "filter"), f"hits {{ {HIT} }} degraded {{ part code message }}"),),
        ),
        Tool(
            "graph",
            "Walk from entities whose keys you know along stated facts to what is connected with them: links between documents, "
            "who owns what, what calls what. Nearest first, each with the facts that lead there.",
            (
                Part(
                    "graph",
                    ("start", "namespaces", "hops", "predicates", "direction", "limit", "asOf"),
                    f"entities {{ hops entity {{ {ENTITY} }} }} facts {{ {FACT} }} truncated",
                ),
            ),
        ),
        Tool(
            "sql",
            "Look entities up by exact filters (kind, type, status, keys, dates, tags, attributes), as a list page by page, or "
            "count them in groups and over time. The numbers are exact: prefer them to counting what another tool lists.",
            (
                Part(
                    "entities",
                    ("namespaces", "filter", "orderBy", "first", "after"),
                    f"totalCount nodes {{ {ENTITY} updatedAt occurredAt attributes }} pageInfo {{ hasNextPage endCursor }}",
                    switch="list",
                ),
                Part(
                    "aggregate",
                    ("metric", "dimensions", "namespaces", "filter", "dateField"),
                    "total buckets { count values { dimension value } }",
                    switch="aggregate",
                    is_on=False,
                ),
            ),
        ),
    ),
    "CHAT": (
        Tool(
            "search_knowledge",
            "Search the knowledge base when a question may be answered by the documents in it. Gives a text to answer from, and "
            "the sources to name. When it holds no answer, say so.",
            (Part("search", ("question", "namespaces", "k"), f"context sources {{ {CARD} }}"),),
        ),
    ),
}
"""The tools of each surface (spec 10)."""
SWITCHES = {
    "list": "Whether to list the entities.",
    "aggregate": "Whether to count them: `metric` in groups by `dimensions`.",
}
DEFAULTS: dict[tuple[str, str], Any] = {("aggregate", "metric"): "ENTITIES", ("aggregate", "dimensions"): []}
"""Defaults of arguments that one form of a tool needs and the other does not have, as JSON."""


async def tools(knowledge: Knowledge, schema: GraphQLSchema, surface: str) -> list[ToolDefinition]:
    """The tools of a surface; none where the caller sees no fragment, so that nobody is offered a search over nothing."""
    if await knowledge.is_empty:
        return []
    scope = Scope.of(knowledge)
    return [definition(schema, tool, scope) for tool in TOOLS[surface]]


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a tool may look: the names to choose from, and what it takes when the model names none."""

    names: Sequence[str]
    is_named: bool
    is_short: bool

    @classmethod
    def of(cls, knowledge: Knowledge) -> Scope:
        """The namespaces that the tools were asked for."""
        names = [space.name for space in knowledge.namespaces]
        return cls(names, knowledge.is_named, len(names) <= knowledge.tool_names_most)


def definition(schema: GraphQLSchema, tool: Tool, scope: Scope) -> ToolDefinition:
    """One tool over a schema."""
    query = schema.query_type
    assert query is not None
    properties: dict[str, Any] = {}
    required: list[str] = []
    declared: dict[str, str] = {}
    called: list[str] = []
    for part in tool.parts:
        field = query.fields[part.field]
        if part.switch is not None:
            properties[part.switch] = {"type": "boolean", "description": SWITCHES[part.switch], "default": part.is_on}
            declared[part.switch] = f"${part.switch}: Boolean! = {str(part.is_on).lower()}"
        for name in part.arguments:
            properties.setdefault(name, parameter(part, field, name, scope))
            declared.setdefault(name, variable(part, field, name, scope))
            if is_needed(part, field, name) and name not in required:
                required.append(name)
        called.append(call(part))
    document = f"query {tool.name}({', '.join(declared.values())}) {{\n" + "".join(f"  {one}\n" for one in called) + "}"
    return ToolDefinition(tool.name, tool.description, json_schema.object_of(properties, required), document)


def parameter(part: Part, field: GraphQLField, name: str, scope: Scope) -> dict[str, Any]:
    """What the model is told of an argument."""
    found = json_schema.of_argument(field.args[name])
    if (part.field, name) in DEFAULTS:
        found["default"] = DEFAULTS[part.field, name]
    if name == "namespaces":
        found["description"] = "Where to look; left out: everywhere."
        if scope.is_short:
            found["items"]["enum"] = list(scope.names)
    return found


def variable(part: Part, field: GraphQLField, name: str, scope: Scope) -> str:
    """The declaration of the variable that carries an argument."""
    argument = field.args[name]
    default = argument.default_value
    if (part.field, name) in DEFAULTS:
        default = json_schema.value_of(argument.type, DEFAULTS[part.field, name])
    if name == "namespaces" and scope.is_named:
        default = list(scope.names)
    written = "" if default is Undefined or default is None else f" = {json_schema.literal(argument.type, default)}"
    return f"${name}: {argument.type}{written}"


def is_needed(part: Part, field: GraphQLField, name: str) -> bool:
    """Whether the model has to give an argument."""
    return json_schema.is_needed(field.args[name]) and (part.field, name) not in DEFAULTS


def call(part: Part) -> str:
    """The root field with its arguments from variables."""
    arguments = ", ".join(f"{name}: ${name}" for name in part.arguments)
    when = "" if part.switch is None else f" @include(if: ${part.switch})"
    return f"{part.field}({arguments}){when} {{ {part.selection} }}"
