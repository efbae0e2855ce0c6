"""Holds entities to the packs of their namespace when they are stored."""

from __future__ import annotations

from retrieval.database import Connection
from retrieval.domain.sql import statement
from retrieval.domain.stored import domain_of
from retrieval.errors import BadInput


async def check_entity(connection: Connection, ns: int, entity_id: int, kind: str, type_: str) -> None:
    """Refuse a type that the packs do not declare, or that facts about the entity do not allow; raises `BadInput`.

    Called before the entity is stored anew, inside a transaction that holds the namespace.
    """
    domain = await domain_of(connection, ns)
    if not domain.packs:
        return
    domain.check_entity(kind, type_)
    await connection.execute(statement("hold_for_type"), ns, entity_id, type_)
    for row in await connection.fetch(statement("said_of_entity"), ns, entity_id, type_):
        subject = type_ if row["is_subject"] else row["subject_type"]
        object_ = type_ if row["is_object"] else row["object_type"]
        try:
            domain.check_ends(row["predicate"], subject, object_)
        except BadInput as error:
            raise BadInput(f"`type`: there are facts about it that do not allow it. {error.message}") from None
