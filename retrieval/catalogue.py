"""Keyed look-ups: one key or many, each kind in one batched statement under access."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from retrieval.database import Record
from retrieval.facts import FactLoaders, told
from retrieval.keys import key_digest
from retrieval.loader import Loader
from retrieval.reader import Reader
from retrieval.records import Entity, Fact, Fragment, PersonalDataFinding, Source
from retrieval.sealing import seal_of
from retrieval.stage import Work

Id = tuple[int, int]
"""Namespace and id within it."""
Page = tuple[int, int, int, int]
"""Namespace and id of an entity, the ordinal to start after, and how many fragments."""


class Catalogue:
    """The loaders of one reader; no key is shared between two accesses."""

    def __init__(self, work: Work, reader: Reader) -> None:
        self.work = work
        self.reader = reader
        self.fragments: Loader[Id, Fragment] = Loader(work, self._fragments)
        self.entities: Loader[Id, Entity] = Loader(work, self._entities)
        self.entities_by_key: Loader[tuple[int, str], Entity] = Loader(work, self._entities_by_key)
        self.sources: Loader[Id, Source] = Loader(work, self._sources)
        self.contents: Loader[Id, str] = Loader(work, self._contents)
        self.facts: Loader[Id, Fact] = Loader(work, self._facts)
        self.fragment_counts: Loader[Id, int] = Loader(work, self._fragment_counts)
        self.places: Loader[Id, tuple[int, ...]] = Loader(work, self._places)
        self.attributes: Loader[tuple[int, int, Any], dict[str, Any]] = Loader(work, self._attributes)
        self._pages: Loader[Page, list[Fragment]] = Loader(work, self._fragments_of)

    @cached_property
    def time(self) -> FactLoaders:
        """The loaders of facts as of an instant; most requests ask none."""
        return FactLoaders(self.work, self.reader)

    async def fragments_of(self, entity: Entity, after: int, first: int) -> list[Fragment]:
        """A page of an entity's fragments in the order of the text."""
        return await self._pages.one((entity.ns, entity.entity_id, after, first)) or []

    async def _fragments_of(self, keys: list[Page]) -> Mapping[Page, list[Fragment]]:
        found: dict[Page, list[Fragment]] = {}
        rows = await self.reader.rows("fragments_of", *(list(column) for column in zip(*keys, strict=True)))
        for row in sorted(rows, key=lambda row: row["ordinal"]):
            found.setdefault(keys[row["page"] - 1], []).append(self._fragment(row))
        return found

    async def _fragments(self, keys: list[Id]) -> Mapping[Id, Fragment]:
        rows = await self.reader.rows("fragments", *split(keys))
        return {(row["ns"], row["fragment_id"]): self._fragment(row) for row in rows}

    async def _entities(self, keys: list[Id]) -> Mapping[Id, Entity]:
        rows = await self.reader.rows("entities_by_id", *split(keys))
        return {(row["ns"], row["entity_id"]): entity_of(row, self.reader) for row in rows}

    async def _entities_by_key(self, keys: list[tuple[int, str]]) -> Mapping[tuple[int, str], Entity]:
        digests = {(ns, key_digest(key)): (ns, key) for ns, key in keys}
        rows = await self.reader.rows("entities_by_key", *split(digests))
        found = {(row["ns"], row["key_digest"]): entity_of(row, self.reader) for row in rows}
        return {(ns, key): found[ns, key_digest(key)] for ns, key in keys if (ns, key_digest(key)) in found}

    async def _sources(self, keys: list[Id]) -> Mapping[Id, Source]:
        rows = await self.reader.rows("sources", *split(keys))
        return {(row["ns"], row["entity_id"]): source_of(row, self.reader) for row in rows}

    async def _contents(self, keys: list[Id]) -> Mapping[Id, str]:
        rows = await self.reader.rows("contents", *split(keys))
        return {
            (row["ns"], row["entity_id"]): self.reader.shown_parts(row["ns"], row["title"], row["content"])[1] for row in rows
        }

    async def _facts(self, keys: list[Id]) -> Mapping[Id, Fact]:
        rows = await self.reader.rows("facts_by_row", *split(keys))
        return {(fact.ns, fact.row_id): fact for _, fact in told(rows, self.reader)}

    async def _fragment_counts(self, keys: list[Id]) -> Mapping[Id, int]:
        rows = await self.reader.rows("fragments_counted", *split(keys))
        return {(row["ns"], row["entity_id"]): row["n"] for row in rows}

    async def _places(self, keys: list[Id]) -> Mapping[Id, tuple[int, ...]]:
        """The entities that stated each fact, by namespace and fact id."""
        found: dict[Id, tuple[int, ...]] = {}
        for row in await self.reader.rows("fact_places", *split(keys)):
            key = (row["ns"], row["fact_id"])
            found[key] = (*found.get(key, ()), row["entity_id"])
        return found

    async def _attributes(self, keys: list[tuple[int, int, Any]]) -> Mapping[tuple[int, int, Any], dict[str, Any]]:
        rows = await self.reader.rows(
            "attributes", [ns for ns, _, _ in keys], [id for _, id, _ in keys], [at for _, _, at in keys]
        )
        # By place and not by instant: the driver gives the last instant of all back as one without a zone.
        places = ((keys[row["place"] - 1], row["attributes"]) for row in rows)
        return {key: self.reader.shown_value(key[0], attributes) for key, attributes in places}

    def _fragment(self, row: Record) -> Fragment:
        ns = row["ns"]
        parts = row["fragment_title"], row["heading"], row["text"]
        sealed = row["seal"] == seal_of(*parts)
        title, heading, text = parts if sealed else self.reader.shown_parts(ns, *parts)
        return Fragment(
            ns=ns,
            fragment_id=row["fragment_id"],
            entity=entity_of(row, self.reader),
            ordinal=row["ordinal"],
            title=title,
            heading=heading,
            text=text,
            meta=self.reader.shown_value(ns, row["fragment_meta"]),
            identifiers=tuple(row["identifiers"]),
            sealed=sealed,
        )


def split(keys: Iterable[tuple[int, Any]]) -> tuple[list[int], list[Any]]:
    """Keys as two arrays of the same length: the namespace of each, and the id of each."""
    listed = list(keys)
    return [ns for ns, _ in listed], [id for _, id in listed]


def entity_of(row: Record, reader: Reader) -> Entity:
    """An entity from a row that has its columns, as the reader shows it; its key and type are what it is, and stay."""
    ns, shown = row["ns"], reader.shown
    return Entity(
        ns=ns,
        entity_id=row["entity_id"],
        namespace=reader.names[ns],
        key=row["key"],
        kind=row["kind"],
        type=row["type"],
        title=shown(ns, row["title"]),
        status=shown(ns, row["status"]),
        source_path=shown(ns, row["source_path"]),
        restricted=row["acl_id"] != 0,
        meta=reader.shown_value(ns, row["meta"]),
        relevance_scopes=tuple(row["relevance_scopes"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        occurred_at=row["occurred_at"],
    )


def source_of(row: Record, reader: Reader) -> Source:
    """A source from a row that has its columns and those of its entity, as the reader shows it."""
    ns, shown = row["ns"], reader.shown
    return Source(
        entity=entity_of(row, reader),
        content_source=row["content_source"],
        media_type=row["media_type"],
        sha256=row["content_sha256"].hex(),
        connector=shown(ns, row["connector"]),
        uri=shown(ns, row["uri"]),
        author=shown(ns, row["author"]),
        fetched_at=row["fetched_at"],
        fragment_count=row["fragment_count"],
        personal_data=tuple(PersonalDataFinding(one["kind"], one["count"]) for one in row["personal_data"]),
    )
