"""What is counted of an operation is remembered for variables of the same size, and for no others."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import DocumentNode, GraphQLSchema, OperationDefinitionNode, build_schema, parse

from schema.api import make_schema
from schema.measuring import Measures, measured, sizes_of

SEARCH = """query($question: String!, $namespaces: [String!], $k: Int! = 8, $rerank: Boolean, $filter: FragmentFilter) {
    search(question: $question, namespaces: $namespaces, k: $k, rerank: $rerank, filter: $filter) {
        hits { score } answer @skip(if: $rerank) { text } } }"""
NODES = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
RECALL = 'query($budget: RecallBudget!) { recall(question: "a", budget: $budget) { memories { score } } }'


def operation_of(document: DocumentNode) -> OperationDefinitionNode:
    (operation,) = document.definitions
    assert isinstance(operation, OperationDefinitionNode)
    return operation


@pytest.fixture(scope="module")
def schema() -> GraphQLSchema:
    return make_schema()._schema


@pytest.mark.parametrize(
    ("text", "given"),
    [
        (SEARCH, [{"question": "a"}, {"question": "a", "k": 50}, {"question": "a", "k": 50.0}, {"question": "a", "k": None}]),
        (SEARCH, [{"question": "a", "rerank": True}, {"question": "a", "rerank": False}, {"question": "a"}]),
        (SEARCH, [{"question": "a", "namespaces": ["a"] * 7}, {"question": "a", "namespaces": None}, {"question": "a"}]),
        (SEARCH, [{"question": "a", "filter": {"keys": ["k"] * 9}}, {"question": "a", "filter": {"keys": ["k"]}}]),
        (NODES, [{"ids": ["a"]}, {"ids": ["a", "b"]}, {"ids": "a"}, {}]),
        (RECALL, [{"budget": "LOW"}, {"budget": "HIGH"}, {"budget": "MID"}]),
    ],
)
def test_counts_are_those_of_the_variables_that_are_given(schema: GraphQLSchema, text: str, given: list[dict[str, Any]]) -> None:
    document, measures = parse(text, no_location=True), Measures()
    operation = operation_of(document)
    for variables in [*given, *given]:
        assert measures.measure(schema, document, operation, variables) == measured(schema, document, operation, variables)


def test_texts_of_one_operation_are_counted_once(schema: GraphQLSchema) -> None:
    document, measures = parse(SEARCH, no_location=True), Measures()
    first, second = (measures.measure(schema, document, operation_of(document), {"question": one}) for one in ("a", "b" * 9_000))
    assert first is second


def test_equal_documents_of_two_schemas_do_not_meet(schema: GraphQLSchema) -> None:
    document, measures = parse(NODES, no_location=True), Measures()
    other = build_schema("type Query { nodes(ids: [ID!]!): Node }  type Node { id: ID }")
    found = [measures.measure(one, document, operation_of(document), {"ids": []}) for one in (schema, other)]
    assert found[0] is not found[1]


def test_what_no_size_says_everything_of_is_counted_each_time() -> None:
    definitions = operation_of(parse(SEARCH)).variable_definitions
    assert sizes_of(definitions, {"question": "a", "filter": {"keys": []}}) is None
    assert sizes_of(definitions, {"question": "a", "namespaces": [["a"]]}) is None
    assert sizes_of(definitions, {"question": "a", "k": "8" * 1_000}) is None
