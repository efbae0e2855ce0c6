"""Brings a base that was filled before personal data were masked in line: flags on sources, words, identifiers and vectors.

It goes fragment by fragment, past those that are sealed, and changes only what differs, so a run that was cut off is followed
by another, and one more changes nothing. Seals are renewed on the way. The base is read and written meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from retrieval.administration.rights import local_administrator
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import note_write
from retrieval.database import Connection, Database, Record, json_text
from retrieval.identifiers import find_identifiers
from retrieval.ingest.indexing import findings_of, indexed
from retrieval.ingest.sql import statement
from retrieval.lexical_text import indexed_text
from retrieval.model import Models, models_held
from retrieval.personal.lookup import marks_of
from retrieval.personal.parts import masked_parts, values_in
from retrieval.retrying import retried
from retrieval.sealing import earned_seal, seal_of
from retrieval.store import digest_of
from retrieval.tuning import FRAGMENTS_PER_STATEMENT

VECTORS = {
    "fragment_vector": "delete from fragment_vector v where v.ns = $1 and v.fragment_id = any($2::bigint[])",
    "fragment_vector_next": "delete from fragment_vector_next v where v.ns = $1 and v.fragment_id = any($2::bigint[])",
    "fragment_vector_former": "delete from fragment_vector_former v where v.ns = $1 and v.fragment_id = any($2::bigint[])",
}
"""Of tables that may be there."""
SOURCES_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Remasked:
    """What a run changed: fragments whose words, identifiers or vectors were made anew, and sources flagged otherwise."""

    fragments: int
    sources: int


async def remask(database: Database, on_progress: Callable[[int, int], None]) -> Remasked:
    """Index the fragments with personal data anew from their masked text, and flag their sources."""
    async with database.reading() as connection:
        total = await connection.fetchval(statement("count_all_fragments"))
    changed, seen, after = 0, 0, (-1, -1)
    while rows := await following(database, "fragments_to_mask", after, FRAGMENTS_PER_STATEMENT):
        after = rows[-1]["ns"], rows[-1]["fragment_id"]
        open_ones = [row for row in rows if not is_sealed(row)]
        for ns in sorted({row["ns"] for row in open_ones}):
            given = [row for row in open_ones if row["ns"] == ns]
            personal = [row for row in given if is_personal(row)]
            if personal:
                changed += await retried(lambda ns=ns, personal=personal: mask(database, ns, personal))  # type: ignore[misc]
            await retried(lambda ns=ns, given=given: seal(database, ns, given))  # type: ignore[misc]
        seen += len(rows)
        on_progress(seen, max(seen, total))
    return Remasked(changed, await flag(database))


async def following(database: Database, name: str, after: tuple[int, int], most: int) -> list[Record]:
    """The next rows of a walk over the base."""
    async with database.reading() as connection:
        found: list[Record] = await connection.fetch(statement(name), *after, most)
        return found


def is_sealed(row: Record) -> bool:
    """Whether a fragment was stored or masked under the rules of this release and held nothing that they find."""
    return bool(row["seal"] == seal_of(row["title"], row["heading"], row["text"]))


async def seal(database: Database, ns: int, rows: Sequence[Record]) -> None:
    """Give some fragments of a namespace, whose words and vectors are in line, the seals that they have earned."""
    seals = {row["fragment_id"]: earned_seal(row["title"], row["heading"], row["text"]) for row in rows}
    async with database.writing() as connection:
        await connection.execute(statement("seal_fragments"), ns, list(seals), list(seals.values()))


def is_personal(row: Record) -> bool:
    """Whether there are personal data in a fragment."""
    return bool(values_in((row["title"], row["heading"], row["text"])))


async def mask(database: Database, ns: int, rows: Sequence[Record]) -> int:
    """Index some fragments of a namespace anew, in one transaction; gives how many were indexed otherwise before."""
    forms = [indexed(row["title"], row["heading"], row["text"]) for row in rows]
    marks = [marks_of(ns, (row["title"], row["heading"], row["text"])) for row in rows]
    async with database.writing() as connection:
        models = await models_held(connection)
        changed = await connection.fetch(
            statement("mask_fragments"), ns, [row["fragment_id"] for row in rows],
            ["\n".join(identifiers_of(row)) for row in rows], [form.words for form in forms], ["\n".join(one) for one in marks],
        )  # fmt: skip
        numbers = {row["fragment_id"] for row in changed}
        if numbers:
            await forget(connection, models, ns, [row for row in rows if row["fragment_id"] in numbers])
            await connection.execute(statement("mark_due"), ns)
            await connection.execute(statement("notify"))
            about, wrote = sorted({row["entity_id"] for row in changed}), {"fragments": len(numbers)}
            await note_write(connection, local_administrator(), Action.MASK, ns, entities=about, items=len(about), outcome=wrote)
    return len(numbers)


def identifiers_of(row: Record) -> list[str]:
    """The identifiers of a fragment that are not found in its personal data."""
    parts = row["title"], row["heading"], row["text"]
    gone = set(find_identifiers("\n".join(parts))) - set(find_identifiers("\n".join(masked_parts(*parts))))
    return [one for one in row["identifiers"] if one not in gone]


async def forget(connection: Connection, models: Models, ns: int, rows: Sequence[Record]) -> None:
    """Delete the vectors made of texts that were not masked, also those kept for equal texts, and queue their fragments."""
    numbers = [row["fragment_id"] for row in rows]
    for table, statement_of_it in VECTORS.items():
        if await connection.fetchval("select to_regclass($1) is not null", table):
            await connection.execute(statement_of_it, ns, numbers)
    known = [model for model in (models.current, models.following) if model is not None]
    texts = [indexed_text(row["title"], row["heading"], row["text"]) for row in rows]
    kept = [(model.number, digest_of(model.name, text)) for model in known for text in texts]
    await connection.execute(statement("erase_vectors"), ns, [], [number for number, _ in kept], [digest for _, digest in kept])
    if models.current is not None:
        await connection.execute(statement("enqueue"), ns, numbers)


async def flag(database: Database) -> int:
    """Flag every source with the personal data in it; gives how many were flagged otherwise before."""
    changed, after = 0, (-1, -1)
    while rows := await following(database, "sources_to_flag", after, SOURCES_AT_ONCE):
        after = rows[-1]["ns"], rows[-1]["entity_id"]
        for row in rows:
            found = findings_of(row["title"], row["content"], row["texts"])
            if found != row["personal_data"]:
                async with database.writing() as connection:
                    values = row["ns"], row["entity_id"], row["digest"], json_text(found)
                    flagged = [one["entity_id"] for one in await connection.fetch(statement("flag_source"), *values)]
                    if flagged:
                        wrote = {"sources": len(flagged)}
                        await note_write(
                            connection, local_administrator(), Action.MASK, row["ns"], entities=flagged, outcome=wrote
                        )
                changed += len(flagged)
    return changed
