"""Which fields of an operation would have a chat model called, so that a second call is refused before any field runs."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    Undefined,
    get_named_type,
    value_from_ast_untyped,
)

from retrieval.session import Session
from schema.cost import default_of, variables_of

RERANK = "rerank"
SEARCH, ANSWER = "Search", "answer"


def reranks(
    schema: GraphQLSchema,
    operation: OperationDefinitionNode,
    fragments: Mapping[str, FragmentDefinitionNode],
    variables: Mapping[str, Any],
    context: object,
) -> int:
    """How many different searches of an operation ask for a rerank; those with the same arguments are one.

    What is selected of them does not count, since no error may hang on that.
    """
    root = schema.get_root_type(operation.operation)
    values = variables_of(operation, variables)
    by_default = isinstance(context, Session) and context.store.tuning.rerank
    asked = set[str]()
    for node in root_fields(operation.selection_set, fragments, values):
        definition = None if root is None else root.fields.get(node.name.value)
        if definition is None or RERANK not in definition.args:
            continue
        given = {one.name.value: one.value for one in node.arguments or ()}
        wanted = value_from_ast_untyped(given[RERANK], dict(values)) if RERANK in given else None
        if (by_default if wanted is None or wanted is Undefined else wanted) is not True:
            continue
        written = {name: value_from_ast_untyped(value, dict(values)) for name, value in given.items()}
        meant = {name: default_of(argument) for name, argument in definition.args.items()}
        meant |= {name: value for name, value in written.items() if value is not Undefined}
        known = {name: value for name, value in meant.items() if value is not Undefined and value is not None and name != RERANK}
        text = json.dumps([node.name.value, known], sort_keys=True, default=named, ensure_ascii=False)
        asked.add(unicodedata.normalize("NFC", text))
    return len(asked)


def answers(
    schema: GraphQLSchema,
    operation: OperationDefinitionNode,
    fragments: Mapping[str, FragmentDefinitionNode],
    variables: Mapping[str, Any],
) -> int:
    """How many answers of searches an operation asks for, each name in the response counted once."""
    root = schema.get_root_type(operation.operation)
    values = variables_of(operation, variables)
    asked = set[tuple[str, str]]()
    for node in root_fields(operation.selection_set, fragments, values):
        definition = None if root is None else root.fields.get(node.name.value)
        if definition is None or node.selection_set is None or get_named_type(definition.type).name != SEARCH:
            continue
        inner = root_fields(node.selection_set, fragments, values)
        asked |= {(response_name(node), response_name(one)) for one in inner if one.name.value == ANSWER}
    return len(asked)


def response_name(node: FieldNode) -> str:
    """What a field answers as."""
    return (node.alias or node.name).value


def named(value: object) -> str:
    """A default of an enum as a document would write it."""
    return value.name if isinstance(value, Enum) else str(value)


def root_fields(
    selection_set: SelectionSetNode, fragments: Mapping[str, FragmentDefinitionNode], values: Mapping[str, Any]
) -> Iterator[FieldNode]:
    """The fields of a selection that run, through all fragments; the operation has passed the limit on expanded selections."""
    for selection in selection_set.selections:
        if is_left_out(selection, values):
            continue
        if isinstance(selection, FieldNode):
            yield selection
        elif isinstance(selection, FragmentSpreadNode):
            yield from root_fields(fragments[selection.name.value].selection_set, fragments, values)
        elif isinstance(selection, InlineFragmentNode):
            yield from root_fields(selection.selection_set, fragments, values)


def is_left_out(selection: SelectionNode, values: Mapping[str, Any]) -> bool:
    """Whether `@skip` or `@include` takes a selection out."""
    conditions = {
        directive.name.value: value_from_ast_untyped(argument.value, dict(values))
        for directive in selection.directives or ()
        for argument in directive.arguments or ()
    }
    return conditions.get("skip") is True or conditions.get("include") is False
