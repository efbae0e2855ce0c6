"""Stores observations: short dated notes by relevance scope and about entities, as entities with a text of their own."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from retrieval.access import Caller
from retrieval.administration.rights import require
from retrieval.database import Database
from retrieval.errors import BadInput, ContextQLError
from retrieval.ingest.documents import one_line
from retrieval.ingest.idempotency import Once
from retrieval.ingest.source_input import Origin, SourceInput, check_optional
from retrieval.ingest.write import ingest_many
from retrieval.migrations import Base
from retrieval.outcomes import ItemResult, Outcome
from retrieval.question import check_instant
from retrieval.text import blank, stored
from retrieval.tuning import OBSERVATION_CHARACTERS, PATH_LENGTH

TITLE_MOST = 120


@dataclass(frozen=True, slots=True)
class ObservationInput:
    """A note to store; without a key it gets one."""

    text: str
    observed_at: datetime
    key: str | None = None
    about: Sequence[str] | None = None
    relevance_scopes: Sequence[str] | None = None
    by: str | None = None
    restricted: bool | None = None
    readers: Sequence[str] | None = None


async def record_observations(
    database: Database,
    base: Base,
    caller: Caller,
    namespace: str,
    observations: Sequence[ObservationInput],
    idempotency_key: str | None = None,
) -> list[ItemResult]:
    """Store observations; a result for each, in the order given, and one that fails stops no other.

    What they are about becomes an edge `about` from the observation, valid from `observed_at` on, as soon as the entity is
    there. Under an idempotency key the same input gives what it gave first. Raises `NamespaceNotFound` or `Forbidden` before
    anything is stored, `Conflict` when the key was used for another input. Needs the role WRITER.
    """
    once = Once("recordObservations", caller, idempotency_key, tuple(observations))
    async with database.writing() as connection:
        ns = await require(connection, caller, namespace, "WRITER")
        before = await once.results(connection, ns)
    if before is not None:
        return [ItemResult(one["key"], Outcome(one["outcome"]), one["code"], one["message"]) for one in before]
    keys = keys_of(observations, caller, idempotency_key)
    results = await stored_each(database, base, caller, namespace, observations, keys)
    async with database.writing() as connection:
        await once.keep(connection, ns, [asdict(result) for result in results])
    return results


def keys_of(observations: Sequence[ObservationInput], caller: Caller, idempotency_key: str | None) -> list[str]:
    """The key of each: its own, or a new one, which is the same again for an idempotency key that is sent again."""
    if idempotency_key is None:
        return [one.key or f"observation/{uuid.uuid4().hex}" for one in observations]
    stem = hashlib.sha256(f"{caller.name}\0{idempotency_key}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return [one.key or f"observation/{stem}/{number}" for number, one in enumerate(observations)]


async def stored_each(
    database: Database, base: Base, caller: Caller, namespace: str, observations: Sequence[ObservationInput], keys: list[str]
) -> list[ItemResult]:
    """Store those that can be read as sources; a result for each."""
    results: dict[int, ItemResult] = {}
    sources: dict[int, SourceInput] = {}
    for number, observation in enumerate(observations):
        try:
            sources[number] = source_of(observation, keys[number])
        except ContextQLError as error:
            results[number] = ItemResult.failed(keys[number], error)
    stored = await ingest_many(database, base, caller, namespace, list(sources.values()))
    results |= dict(zip(sources, stored, strict=True))
    return [results[number] for number in range(len(observations))]


def source_of(observation: ObservationInput, key: str) -> SourceInput:
    """An observation as the source that is stored; the rest of its limits is checked there."""
    text = stored(observation.text, "`text`")
    if blank(text):
        raise BadInput("`text` is empty.")
    if len(text) > OBSERVATION_CHARACTERS:
        raise BadInput(
            f"`text` has {len(text):,} characters; an observation may have {OBSERVATION_CHARACTERS:,}. "
            "Send a longer text as a source of the kind EPISODE or DOCUMENT."
        )
    return SourceInput(
        key=key,
        content=text,
        kind="OBSERVATION",
        type="observation",
        title=title_of(text),
        media_type="text/plain",
        relevance_scopes=observation.relevance_scopes,
        restricted=observation.restricted,
        readers=observation.readers,
        occurred_at=check_instant("observedAt", observation.observed_at),
        origin=Origin(author=check_optional("by", observation.by, PATH_LENGTH)),
        about=observation.about or (),
    )


def title_of(text: str) -> str:
    """The first line, cut between words.

    >>> title_of("Payments were slow.\\nFrom nine to ten.")
    'Payments were slow.'
    """
    line = one_line(next(line for line in text.splitlines() if not blank(line)))
    if len(line) <= TITLE_MOST:
        return line
    cut = line[:TITLE_MOST].rpartition(" ")[0]
    return (cut or line[: TITLE_MOST - 1]) + "…"
