"""The answer that a document must get: its selections walked over the fields, and where a given answer differs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from graphql import (
    FieldNode,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    SelectionSetNode,
    get_named_type,
    value_from_ast_untyped,
)

from tests.contract.fields import FIELDS
from tests.contract.opaque import ANYTHING, OPAQUE
from tests.contract.oracle import View
from tests.contract.parsing import operation_of


def expected(schema: GraphQLSchema, view: View, document: str) -> dict[str, Any]:
    """The data that a document must give; its arguments are literals, its fragments inline."""
    return chosen(schema, view, operation_of(document).selection_set, "Query", None)


def chosen(schema: GraphQLSchema, view: View, selections: SelectionSetNode, kind: str, value: Any) -> dict[str, Any]:
    """The selected fields of one object."""
    answer: dict[str, Any] = {}
    for selection in selections.selections:
        if isinstance(selection, InlineFragmentNode):
            if selection.type_condition is None or selection.type_condition.name.value in (kind, "Node"):
                answer |= chosen(schema, view, selection.selection_set, kind, value)
            continue
        assert isinstance(selection, FieldNode)
        name = selection.name.value
        alias = selection.alias.value if selection.alias else name
        if name == "__typename":
            answer[alias] = kind
            continue
        given = {one.name.value: value_from_ast_untyped(one.value) for one in selection.arguments or ()}
        found = FIELDS[kind][name](view, value, **given)
        if selection.selection_set is not None and found is not ANYTHING:
            found = below(schema, view, selection.selection_set, type_below(schema, kind, name), found)
        answer[alias] = found
    return answer


def type_below(schema: GraphQLSchema, kind: str, name: str) -> str:
    parent = schema.type_map[kind]
    assert isinstance(parent, GraphQLObjectType | GraphQLInterfaceType)
    return str(get_named_type(parent.fields[name].type))


def below(schema: GraphQLSchema, view: View, selections: SelectionSetNode, kind: str, found: Any) -> Any:
    """The objects under a field; a list of namespaces is the value of `Knowledge` itself, one of buckets that of `Aggregate`."""
    if found is None:
        return None
    if isinstance(found, list) and kind not in ("Knowledge", "Aggregate"):
        return [below(schema, view, selections, kind, one) for one in found]
    return chosen(schema, view, selections, type(found).__name__ if kind == "Node" else kind, found)


def differences(wanted: Any, got: Any, path: str = "") -> list[str]:
    """Where an answer is not what it must be; floating point numbers may differ by rounding."""
    if wanted is ANYTHING:
        return []
    if wanted is OPAQUE:
        return [] if isinstance(got, str | int | float | dict) else [f"{path}: {got!r} instead of a value"]
    if isinstance(wanted, datetime):
        return [] if isinstance(got, str) and datetime.fromisoformat(got) == wanted else [f"{path}: {got!r}, not {wanted!r}"]
    if isinstance(wanted, float) and isinstance(got, float | int):
        return [] if math.isclose(wanted, got, rel_tol=1e-5, abs_tol=2e-6) else [f"{path}: {got!r}, not {wanted!r}"]
    if isinstance(wanted, Mapping) and isinstance(got, Mapping):
        if wanted.keys() != got.keys():
            return [f"{path}: has {sorted(got)}, not {sorted(wanted)}"]
        return [line for key in wanted for line in differences(wanted[key], got[key], f"{path}.{key}")]
    if isinstance(wanted, list) and isinstance(got, list):
        if len(wanted) != len(got):
            return [f"{path}: {len(got)} items, not {len(wanted)}"]
        return [line for n, pair in enumerate(zip(wanted, got, strict=True)) for line in differences(*pair, f"{path}[{n}]")]
    return [] if wanted == got and type(wanted) is type(got) else [f"{path}: {got!r}, not {wanted!r}"]
