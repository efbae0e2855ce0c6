"""The models of vectors that a base knows: the one that it is asked with, and the one that it is being re-embedded with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from retrieval.database import Connection

VectorValues = np.ndarray[Any, np.dtype[np.floating[Any]]]


@dataclass(frozen=True, slots=True)
class Model:
    """A model by its number in the base, which is never given twice, its name, and how many numbers its vectors have."""

    number: int
    name: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Models:
    """What a base holds vectors of: `current` is asked, `following` is being made; either may be missing."""

    current: Model | None
    following: Model | None


@dataclass(frozen=True, slots=True, eq=False)
class QuestionVector:
    """The vector of a question with the model that made it: it may be compared with vectors of that model only."""

    values: VectorValues
    model: Model


class ModelChanged(Exception):
    """The base is held by another model than the question was embedded with; `current` is the one that holds it."""

    def __init__(self, current: Model | None) -> None:
        super().__init__("The base was re-embedded with another model.")
        self.current = current


async def models_of(connection: Connection) -> Models:
    """The models of a base, in the snapshot of the connection."""
    row = await connection.fetchrow(
        "select model_number, embedding_model, embedding_size, next_number, next_model, next_size from base"
    )
    return Models(
        model_of(row["model_number"], row["embedding_model"], row["embedding_size"]),
        model_of(row["next_number"], row["next_model"], row["next_size"]),
    )


async def model_in_use(connection: Connection) -> Model | None:
    """The model of the table of vectors that this connection reads; None when its snapshot is older than a switch."""
    named = await connection.fetchval("select vector_table is not distinct from to_regclass('fragment_vector') from base")
    return (await models_of(connection)).current if named else None


async def models_held(connection: Connection) -> Models:
    """The models of a base, kept as they are until the transaction ends: whoever changes them waits for those who write.

    For the beginning of a transaction that writes fragments or vectors. The base is read by a statement of its own, whose
    snapshot is younger than the lock.
    """
    await connection.execute("lock table fragment in row exclusive mode")
    return await models_of(connection)


def model_of(number: int | None, name: str | None, dimensions: int | None) -> Model | None:
    """A model from its columns; None where there is none."""
    return None if number is None or name is None or dimensions is None else Model(number, name, dimensions)
