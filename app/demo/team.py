"""Puts the example of a software team into a base: its domain pack, things, facts over time and documents."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from retrieval.administration.namespaces import create_namespace, list_namespaces
from retrieval.administration.rights import local_administrator
from retrieval.domain.applying import apply_pack
from retrieval.domain.reading import read_pack
from retrieval.errors import ContextQLError
from retrieval.ingest.entities import upsert_entities
from retrieval.ingest.entity_input import EntityInput
from retrieval.ingest.fact_loading import load_facts
from retrieval.ingest.folder import FileText, read_folder
from retrieval.ingest.source_input import SourceInput
from retrieval.ingest.statistics import refresh_statistics
from retrieval.ingest.write import connect_links, ingest_source
from retrieval.outcomes import FactResult, ItemResult, Outcome
from retrieval.store import Store

FOLDER = Path(__file__).parent / "software_team"
NAMESPACE = "team"
TITLE = "A software team"


class TeamDamaged(ContextQLError):
    """A part of the example could not be stored."""


async def load_team(store: Store) -> bool:
    """Store the example in the namespace `team`; false when everything was there already. Raises `TeamDamaged`."""
    caller, database = local_administrator(), store.database
    if NAMESPACE not in {one.name for one in await list_namespaces(database, caller)}:
        await create_namespace(database, caller, NAMESPACE, TITLE)
    pack = read_pack((FOLDER / "pack.yaml").read_text(encoding="utf-8"))
    changed = (await apply_pack(database, caller, NAMESPACE, pack)).changed
    documents = [await ingest_source(database, store.base, caller, NAMESPACE, source) for source in sources()]
    stored: list[ItemResult | FactResult] = [*documents, *await upsert_entities(database, caller, NAMESPACE, list(things()))]
    facts = (FOLDER / "facts.jsonl").read_text(encoding="utf-8").splitlines()
    stored += [result for _, result in (await load_facts(database, caller, NAMESPACE, facts)).results]
    for result in stored:
        if result.outcome is Outcome.FAILED:
            raise TeamDamaged(f"The example of a team could not be stored: {result.message}")
    changed = changed or any(result.outcome is not Outcome.UNCHANGED for result in stored)
    if changed:
        (ns,) = [one.ns for one in await list_namespaces(database, caller) if one.name == NAMESPACE]
        await connect_links(database, ns)
        await refresh_statistics(database, ns)
    return changed


def sources() -> Iterator[SourceInput]:
    """The documents, each under its path inside the folder."""
    for file in read_folder(FOLDER / "documents"):
        if isinstance(file, FileText):
            yield SourceInput(file.key, file.text, media_type=file.media_type, source_path=f"https://wiki.example/{file.key}")


def things() -> Iterator[EntityInput]:
    """The things, some with several versions of their attributes."""
    for line in (FOLDER / "entities.jsonl").read_bytes().splitlines():
        given: dict[str, Any] = orjson.loads(line)
        yield EntityInput(
            given["key"], given["type"], given["title"], source_path=given.get("sourcePath"), attributes=given.get("attributes"),
            valid_from=instant(given.get("validFrom")), occurred_at=instant(given.get("occurredAt")),
        )  # fmt: skip


def instant(text: str | None) -> datetime | None:
    """An instant of the data."""
    return None if text is None else datetime.fromisoformat(text)
