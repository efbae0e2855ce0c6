"""Replaces what an entity points to: links in its text, and the entities that an observation is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from retrieval.database import Connection
from retrieval.ingest.sql import statement
from retrieval.keys import key_digest


@dataclass(frozen=True, slots=True)
class Manner:
    """How an entity points to others: the predicate, start and relevance scopes of the facts that come of it."""

    predicate: str
    valid_from: datetime | None = None
    relevance_scopes: tuple[str, ...] = ()


LINKS_TO = Manner("links_to")


async def replace_links(
    connection: Connection, ns: int, entity_id: int, key: str, targets: Iterable[str], manner: Manner
) -> list[int]:
    """Store the keys that an entity points to in one manner, itself left out; gives the facts that are retracted with old ones.

    They become facts by `connect_links`, after the commit.
    """
    digests = {key_digest(target): target for target in targets}
    digests.pop(key_digest(key), None)
    how = manner.predicate, manner.valid_from, list(manner.relevance_scopes)
    removed = await connection.fetch(statement("remove_links"), ns, entity_id, list(digests), *how)
    vanished = [row["fact_id"] for row in removed if row["fact_id"] is not None]
    if vanished:
        await connection.execute(statement("retract_facts"), ns, vanished)
    if digests:
        await connection.execute(statement("add_links"), ns, entity_id, list(digests), list(digests.values()), *how)
    return vanished
