"""What an embedding provider answered, turned into unit vectors or refused: a wrong vector is worse than none."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson

from retrieval.errors import ProviderUnavailable
from retrieval.ports import Vectors


def vectors_of(body: bytes, count: int, dimensions: int) -> Vectors:
    """The vectors of a reply of OpenAI's `/embeddings`, in the order of the texts: shape (count, dimensions), unit length.

    Items are placed by their `index`, never by their position. Raises `ProviderUnavailable` for anything that is not
    exactly one finite, non-zero vector of the right size for each text.
    """
    try:
        items = orjson.loads(body)["data"]
        by_index = {_index(item): item["embedding"] for item in items}
        if len(items) != count or by_index.keys() != set(range(count)):
            raise _unusable(f"{len(items)} vectors, {len(by_index)} different, for {count} texts")
        rows = [by_index[index] for index in range(count)]
        if any(len(row) != dimensions for row in rows):
            sizes = ", ".join(str(size) for size in sorted({len(row) for row in rows}))
            raise _unusable(f"vectors of {sizes} numbers where {dimensions} are configured")
        if not all(type(number) in (float, int) for row in rows for number in row):
            raise _unusable("vectors with values that are no numbers")
        return unit_vectors(np.array(rows, dtype=np.float64).reshape(count, dimensions))
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise _unusable("no list of vectors") from error


def unit_vectors(vectors: np.ndarray[Any, np.dtype[np.floating[Any]]]) -> Vectors:
    """Scale each row to length 1; raises `ProviderUnavailable` for a zero or non-finite one."""
    with np.errstate(over="ignore"):  # an overflow is infinite and refused below
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 1e-12).all():
        raise _unusable("a vector that is zero or not finite")
    return np.ascontiguousarray(vectors / lengths, dtype=np.float32)


def _index(item: Any) -> int:
    index = item["index"]
    if type(index) is not int:
        raise _unusable("an index that is no number")
    return index


def _unusable(what: str) -> ProviderUnavailable:
    return ProviderUnavailable(f"The embedding provider gave a reply that cannot be used: {what}.")
