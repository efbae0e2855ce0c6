"""Takes in vectors that were made elsewhere, so that texts which are stored later need no provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pgvector import HalfVector

from retrieval.access import Caller
from retrieval.administration.rights import require
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import note_write
from retrieval.database import Database
from retrieval.ingest.sql import statement
from retrieval.retrying import retried

Vector = np.ndarray[Any, np.dtype[np.floating[Any]]]


async def import_vectors(database: Database, caller: Caller, namespace: str, vectors: Mapping[bytes, Vector]) -> int:
    """Keep vectors by SHA-256 of model and text (`store.digest_of`); gives how many were new. Needs ADMIN.

    Fragments get them when they are stored. They stay as long as the namespace.
    """

    async def write() -> int:
        async with database.writing() as connection:
            ns = await require(connection, caller, namespace, "ADMIN")
            values = list(vectors), [HalfVector(vector) for vector in vectors.values()]
            status: str = await connection.execute(statement("import_vectors"), ns, *values)
            new = int(status.split()[-1])
            if new:
                await note_write(connection, caller, Action.IMPORT_VECTORS, ns, items=new, outcome={"created": new})
            return new

    return await retried(write)
