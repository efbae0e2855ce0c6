"""Parses each document once, whoever asks it."""

from __future__ import annotations

from functools import lru_cache

from graphql import OperationDefinitionNode, parse


@lru_cache(maxsize=256)
def operation_of(document: str) -> OperationDefinitionNode:
    """The one operation of a document, for whoever only reads it."""
    (operation,) = parse(document, no_location=True).definitions
    assert isinstance(operation, OperationDefinitionNode)
    return operation
