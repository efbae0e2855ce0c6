"""A trace as one reader sees it: what is no longer visible is as if it had never been in it; titles are loaded under access."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from retrieval.compilation.choosing import Candidate, Dropped, DropReason
from retrieval.compilation.item import Item, ItemKind
from retrieval.compilation.pack import Budget
from retrieval.compilation.texts import text_of_fact
from retrieval.errors import BadInput
from retrieval.keys import check_key, read_id
from retrieval.ranking import Channel, Signal
from retrieval.records import Entity, Fact
from retrieval.stage import Work, stage
from retrieval.text import strict
from retrieval.tracing.plain import record_of
from retrieval.tracing.record import CandidateTrace, ChannelTrace, Outcome, TraceRecord
from retrieval.tracing.requests import masked_request
from retrieval.tracing.why import Decision, best_decision, decision_on, nothing_found
from retrieval.untrusted import neutralize_line

if TYPE_CHECKING:
    from retrieval.session import Session

TRACE_ID = re.compile(r"ctx-[A-Za-z0-9_-]{24}")
OF_IDS = {"fragment": ItemKind.FRAGMENT, "fact": ItemKind.FACT, "entity": ItemKind.ENTITY}


async def stored_trace(session: Session, trace_id: str) -> ShownTrace | None:
    """A trace by id; None for one that is not there, is another's, is too old, or has a namespace that is closed."""
    if not TRACE_ID.fullmatch(trace_id):
        return None
    caller = await session.caller
    reader = session.reader(caller.spaces)
    days, issuer, claimed = session.store.tuning.trace_days, caller.issuer, list(caller.claimed)
    rows = await reader.rows("trace", trace_id, caller.principal_id, days, issuer, caller.name, claimed)
    if not rows:
        return None
    record = record_of(rows[0]["body"])
    session.touched.update(space.name for space in caller.spaces if space.ns in record.namespaces)
    return ShownTrace(session, record)


@dataclass(frozen=True, slots=True)
class ShownChannel:
    """A channel with how many visible items it gave, and whether that is all that it had."""

    channel: Channel
    weight: float
    asked: int
    returned: int
    exhausted: bool
    exact: bool | None
    milliseconds: float


@dataclass(frozen=True, slots=True, eq=False)
class ShownCandidate:
    """A candidate that the reader may see."""

    trace: ShownTrace
    item: Item
    score: float
    signals: tuple[Signal, ...]
    outcome: Outcome

    async def title(self) -> str:
        """Its title, safe in a prompt; empty when it was hidden a moment ago."""
        return (await self.trace.titles([self.item])).get(self.item, "")


class ShownTrace:
    """One trace in the session of its reader."""

    def __init__(self, session: Session, record: TraceRecord) -> None:
        self.session = session
        self.record = record
        self.work: Work = session.work

    @stage
    async def seen(self) -> dict[Item, int | None]:
        """What of it the reader may see; of a fact with its last visible row."""
        return await visible_items(self.session, self.record.items)

    @stage
    async def visible(self) -> TraceRecord:
        """The trace without what the reader may not see."""
        return self.record.without(self.record.items.keys() - (await self.seen).keys())

    @stage
    async def namespaces(self) -> list[str]:
        """The names of its namespaces, by name."""
        names = {space.ns: space.name for space in (await self.session.caller).spaces}
        return sorted(names[ns] for ns in self.record.namespaces if ns in names)

    @stage
    async def request(self) -> Mapping[str, Any]:
        """What was asked; personal data in it are masked unless the reader may read those of all its namespaces."""
        caller, record = await self.session.caller, self.record
        reader = self.session.reader(caller.spaces)
        shows = all(map(reader.shows, record.namespaces)) if record.namespaces else caller.administrator
        return record.request if shows else masked_request(record.request)

    @stage
    async def channels(self) -> list[ShownChannel]:
        """The channels that ran."""
        return [shown_channel(one) for one in (await self.visible).channels]

    @stage
    async def budget(self) -> Budget | None:
        """How the budget of a pack was spent, over what is visible."""
        record = await self.visible
        if record.budget is None:
            return None
        known = {one.item: one for one in record.candidates}
        titles = await self.titles(record.budget.dropped)
        dropped = tuple(dropped_item(known[item], titles[item]) for item in record.budget.dropped if item in titles)
        used = sum(one.tokens or 0 for one in record.candidates if one.outcome is Outcome.INCLUDED)
        return Budget(
            record.budget.max_tokens, used + (record.budget.current or 0), bool(dropped) or record.budget.is_cut, dropped
        )

    async def candidates(self, after: int, first: int) -> list[tuple[int, ShownCandidate]]:
        """`first` visible candidates behind a place in the list, each with its place."""
        places = {one.item: place for place, one in enumerate(self.record.candidates)}
        left = [one for one in (await self.visible).candidates if places[one.item] > after][:first]
        return [(places[one.item], ShownCandidate(self, one.item, one.score, one.signals, one.outcome)) for one in left]

    async def why(self, namespace: str | None = None, key: str | None = None, item_id: str | None = None) -> Decision:
        """What became of an item, or of an entity by its key: the best of it and its fragments. Raises `BadInput`."""
        if (key is None) == (item_id is None):
            raise BadInput("`why` needs either `key` or `itemId`; give one of them.")
        if namespace is not None:
            namespace = strict(namespace, "`namespace`")
        if item_id is not None:
            return await self._why_item(namespace, item_id)
        assert key is not None
        return await self._why_entity(namespace, check_key(key, self.session.store.tuning.key_most, "`key`"))

    async def _why_item(self, namespace: str | None, item_id: str) -> Decision:
        record = await self.visible
        if item_id == "current":
            has_state = record.budget is not None and record.budget.current is not None
            return decision_on(record, Item(ItemKind.CURRENT, 0, 0)) if has_state else nothing_found(record.language)
        kind, ns, number = read_id(item_id)
        names = {space.ns: space.name for space in (await self.session.caller).spaces}
        if kind not in OF_IDS or ns not in names or namespace not in (None, names[ns]):
            return nothing_found(record.language)
        item = Item(OF_IDS[kind], ns, number)
        is_there = item in record.items or item in await visible_items(self.session, [item])
        return decision_on(record, item) if is_there else nothing_found(record.language)

    async def _why_entity(self, namespace: str | None, key: str) -> Decision:
        record = await self.visible
        spaces = (await self.session.caller).spaces
        asked = [one.ns for one in spaces if (one.ns in record.namespaces if namespace is None else one.name == namespace)]
        found = await (await self.session.catalogue()).entities_by_key.many((ns, key) for ns in asked)
        entities = [(entity.ns, entity.entity_id) for entity in found if entity is not None]
        items = [Item(ItemKind.ENTITY, *entity) for entity in entities]
        items += [
            item
            for item, entity_id in record.items.items()
            if item.kind is ItemKind.FRAGMENT and (item.ns, entity_id) in entities
        ]
        return best_decision(record, items)

    async def titles(self, items: Iterable[Item]) -> dict[Item, str]:
        """What visible items are called, safe in a prompt: a fact by what it says; one that is hidden by now has none."""
        catalogue, seen, listed = await self.session.catalogue(), await self.seen, list(items)
        by_kind = {kind: [item for item in listed if item.kind is kind and item in seen] for kind in ItemKind}
        fragments, facts, entities = (by_kind[kind] for kind in (ItemKind.FRAGMENT, ItemKind.FACT, ItemKind.ENTITY))
        texts, rows, things = await asyncio.gather(
            catalogue.fragments.many((item.ns, item.id) for item in fragments),
            self._said((item.ns, seen[item] or 0) for item in facts),
            catalogue.entities.many((item.ns, item.id) for item in entities),
        )
        titles = [None if one is None else one.title for one in texts]
        titles += rows
        titles += [None if one is None else one.title for one in things]
        named = zip((*fragments, *facts, *entities), titles, strict=True)
        return {item: neutralize_line(title) for item, title in named if title is not None}

    async def _said(self, rows: Iterable[tuple[int, int]]) -> list[str | None]:
        """What facts say, by row; None for what is hidden by now."""
        catalogue = await self.session.catalogue()
        facts = await catalogue.facts.many(rows)
        ends = {(one.ns, id) for one in facts if one is not None for id in (one.subject_id, one.object_id) if id is not None}
        known = dict(zip(ends, await catalogue.entities.many(ends), strict=True))
        return [None if one is None else label_of_fact(one, known) for one in facts]


async def visible_items(session: Session, items: Iterable[Item]) -> dict[Item, int | None]:
    """Those of some items that the reader of a session may see; of a fact with its last visible row."""
    listed = list(items)
    if not listed:
        return {}
    ids: Mapping[ItemKind, list[int]] = {kind: [item.id for item in listed if item.kind is kind] for kind in ItemKind}
    reader = session.reader((await session.caller).spaces)
    spaces = sorted({item.ns for item in listed})
    rows = await reader.rows("visible_items", spaces, ids[ItemKind.FRAGMENT], ids[ItemKind.FACT], ids[ItemKind.ENTITY])
    return {Item(ItemKind(row["kind"]), row["ns"], row["id"]): row["row_id"] for row in rows}


def label_of_fact(fact: Fact, known: Mapping[tuple[int, int], Entity | None]) -> str | None:
    """What a fact says; None where an end of it is hidden by now."""
    subject = known[fact.ns, fact.subject_id]
    object = None if fact.object_id is None else known[fact.ns, fact.object_id]
    if subject is None or (fact.object_id is not None and object is None):
        return None
    return text_of_fact(fact, subject, object).label


def shown_channel(one: ChannelTrace) -> ShownChannel:
    """A channel counted over what is left of its list."""
    returned = len(one.places)
    return ShownChannel(one.channel, one.weight, one.asked, returned, returned < one.asked, one.exact, one.milliseconds)


def dropped_item(one: CandidateTrace, title: str) -> Dropped:
    """What was dropped, as a pack tells of it."""
    return Dropped(
        Candidate(one.item, one.entity_id, one.score, one.signals, title, "", one.tokens or 0), DropReason(one.outcome.value)
    )
