"""Parses each document once: the same one is asked by every caller of a world, and parsing was most of the work of the oracle."""

from __future__ import annotations

from functools import lru_cache

from graphql import OperationDefinitionNode, parse


@lru_cache(maxsize=256)
def operation_of(document: str) -> OperationDefinitionNode:
    """The one operation of a document, for whoever only reads it."""
    (operation,) = parse(document).definitions
    assert isinstance(operation, OperationDefinitionNode)
    return operation
