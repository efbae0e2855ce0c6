"""A pack as a run of lazy stages: the channels and texts that decide it, and the rest only when it is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from retrieval.access import Space
from retrieval.compilation.channels import Channels
from retrieval.compilation.choosing import Candidate, Decided, Node, choose, place_of
from retrieval.compilation.item import Item, ItemKind
from retrieval.compilation.pack import Budget, PackItem, Section, budget_of, sections_of
from retrieval.compilation.question import PackQuestion
from retrieval.compilation.rendering import pack_text
from retrieval.compilation.scoring import (
    Traits,
    Wanted,
    bonuses,
    rank_signals,
    total,
    traits_of_entity,
    traits_of_fact,
    traits_of_fragment,
    whole_hour,
)
from retrieval.compilation.texts import ItemText, current_of, text_of_current, text_of_entity, text_of_fact, text_of_fragment
from retrieval.identifiers import find_identifiers
from retrieval.prompt import language_of
from retrieval.records import Entity, Fact, Fragment
from retrieval.stage import Work, stage
from retrieval.text_lists import Degradation

if TYPE_CHECKING:
    from retrieval.session import Session


@dataclass(frozen=True, slots=True)
class Loaded:
    """A candidate with the row that it is, what it says, and what of it counts."""

    said: ItemText
    traits: Traits
    entity_id: int
    record: Fragment | Fact | Entity


class Compilation:
    """One pack inside one session."""

    def __init__(self, session: Session, asked: PackQuestion, spaces: Sequence[Space]) -> None:
        self.session = session
        self.asked = asked
        self.spaces = tuple(spaces)
        self.work: Work = session.work
        self.tokenizer = session.store.tokenizer
        self.channels = Channels(session, asked, session.reader(spaces))

    @stage
    async def loaded(self) -> Mapping[Item, Loaded]:
        """All that was admitted and the facts that contradict it; what is no longer visible is left out."""
        ranked = await self.channels.ranked
        admitted = [hit.item for found in ranked.lists.values() for hit in found.hits[: self.asked.k]]
        items = list(dict.fromkeys([*admitted, *(item for group in ranked.conflicts for item in group)]))
        facts = {item: ranked.facts[item] for item in items if item.kind is ItemKind.FACT}
        parts = await asyncio.gather(
            self._fragments([item for item in items if item.kind is ItemKind.FRAGMENT]),
            self._facts(facts),
            self._entities([item for item in items if item.kind is ItemKind.ENTITY]),
        )
        return {item: loaded for part in parts for item, loaded in part.items()}

    @stage
    async def candidates(self) -> tuple[Candidate, ...]:
        """Everything that may go into the pack, in the order in which it is tried."""
        ranked, loaded = await self.channels.ranked, await self.loaded
        tuning, at = self.session.store.tuning, self.asked.as_of or whole_hour(await self.session.now())
        wanted = Wanted(frozenset(find_identifiers(self.asked.text)), frozenset(self.asked.scopes), at)
        ranks, groups = rank_signals(tuning, ranked.lists, self.asked.k), groups_of(ranked.conflicts, loaded)
        found = []
        for item, one in loaded.items():
            signals = (*ranks.get(item, ()), *bonuses(tuning, wanted, one.traits))
            said, price = one.said, self.tokenizer.count(one.said.text)
            title = said.title if said.label is None else said.label
            found.append(Candidate(item, one.entity_id, total(signals), signals, title, said.text, price, groups.get(item)))
        return tuple(sorted(found, key=place_of))

    @stage
    async def decided(self) -> Decided:
        """What goes into the pack, and what does not."""
        candidates, budget, state = await self.candidates, self.asked.max_tokens, self.asked.current
        return choose(candidates, budget, None if state is None else current_of(state, budget, self.tokenizer))

    @stage
    async def items(self) -> tuple[PackItem, ...]:
        """What is in the pack, in the order in which it entered."""
        decided, loaded = await self.decided, await self.loaded
        current = decided.current
        first = [] if current is None else [
            PackItem(self, Item(ItemKind.CURRENT, 0, 0), text_of_current(current), 0.0, (), current.price)
        ]  # fmt: skip
        return (*first, *(pack_item(self, one, loaded[one.item]) for one in decided.entered))

    @stage
    async def sections(self) -> tuple[Section, ...]:
        """The items by section."""
        return sections_of(await self.items)

    @stage
    async def token_estimate(self) -> int:
        """What the items take."""
        return (await self.decided).used

    @stage
    async def budget(self) -> Budget:
        """How the budget was spent."""
        return budget_of(await self.decided)

    @stage
    async def conflicts(self) -> list[Fact]:
        """The facts of the pack that contradict each other, in its order."""
        return [item.fact for item in await self.items if item.fact is not None and item.conflict]

    @stage
    async def sources(self) -> list[Entity]:
        """What the items rest on, in the order of the sections, each once."""
        items = [item for section in await self.sections for item in section.items]
        stated = await self._places([item.fact for item in items if item.fact is not None])
        found = [entity for item in items for entity in (*rests_on(item), *stated.get(item.item, ()))]
        return list({(entity.ns, entity.entity_id): entity for entity in found}.values())

    @stage
    async def text(self) -> str:
        """The pack as text for a prompt."""
        language = language_of(self.asked.text, self.asked.locale, self.session.store.tuning)
        return pack_text(await self.sections, language)

    @stage
    async def text_token_estimate(self) -> int:
        """What that text takes."""
        return self.tokenizer.count(await self.text)

    @stage
    async def degraded(self) -> tuple[Degradation, ...]:
        """The helpers that did not help."""
        return (await self.channels.ranked).degraded

    @stage
    async def grounds(self) -> None:
        """Load what the chains of all items rest on, each kind at once: then no chain needs a statement of its own."""
        items, catalogue = await self.items, await self.session.catalogue()
        ways = await asyncio.gather(*(self.ways((one.ns, one.entity_id)) for item in items if (one := item.entity)))
        facts = [*(item.fact for item in items if item.fact is not None), *(fact for some in ways for fact in some)]
        stated = await self._places(facts)
        entities = [one for some in (*map(rests_on, items), *stated.values()) for one in some]
        await catalogue.sources.many((one.ns, one.entity_id) for one in entities)

    async def ways(self, node: Node) -> list[Fact]:
        """The facts that led the walk to an entity, then those that led to the entities before it, each once."""
        catalogue, ranked = await self.session.catalogue(), await self.channels.ranked
        reached = {(one.ns, one.entity_id): one for one in ranked.neighbours.values()}
        ns, front, seen, facts = node[0], {node}, set[int](), list[Fact]()
        while rows := sorted({row for at in front if at in reached for row in reached[at].facts} - seen):
            seen.update(rows)
            found = [fact for fact in await catalogue.facts.many((ns, row) for row in rows) if fact is not None]
            facts += found
            front = {(ns, end) for fact in found for end in (fact.subject_id, fact.object_id) if end is not None}
        return facts

    async def _fragments(self, items: Sequence[Item]) -> dict[Item, Loaded]:
        catalogue = await self.session.catalogue()
        found = await catalogue.fragments.many((item.ns, item.id) for item in items)
        return {
            item: Loaded(text_of_fragment(one), traits_of_fragment(one), one.entity.entity_id, one)
            for item, one in zip(items, found, strict=True)
            if one is not None
        }

    async def _facts(self, facts: Mapping[Item, Fact]) -> dict[Item, Loaded]:
        catalogue = await self.session.catalogue()
        nodes = {(fact.ns, id) for fact in facts.values() for id in (fact.subject_id, fact.object_id) if id is not None}
        known = dict(zip(nodes, await catalogue.entities.many(nodes), strict=True))
        found = {}
        for item, fact in facts.items():
            subject = known[fact.ns, fact.subject_id]
            object = None if fact.object_id is None else known[fact.ns, fact.object_id]
            if subject is not None and (fact.object_id is None or object is not None):
                found[item] = Loaded(text_of_fact(fact, subject, object), traits_of_fact(fact), fact.subject_id, fact)
        return found

    async def _entities(self, items: Sequence[Item]) -> dict[Item, Loaded]:
        catalogue, at = await self.session.catalogue(), await self._at()
        entities, attributes = await asyncio.gather(
            catalogue.entities.many((item.ns, item.id) for item in items),
            catalogue.attributes.many((item.ns, item.id, at) for item in items),
        )
        return {
            item: Loaded(text_of_entity(entity, version or {}), traits_of_entity(entity), entity.entity_id, entity)
            for item, entity, version in zip(items, entities, attributes, strict=True)
            if entity is not None
        }

    async def _places(self, facts: Sequence[Fact]) -> dict[Item, list[Entity]]:
        """What stated each fact."""
        catalogue = await self.session.catalogue()
        stated = await catalogue.places.many((fact.ns, fact.fact_id) for fact in facts)
        nodes = [[(fact.ns, id) for id in sorted(ids or ())] for fact, ids in zip(facts, stated, strict=True)]
        found = iter(await catalogue.entities.many(node for some in nodes for node in some))
        entities = [[next(found) for _ in some] for some in nodes]
        return {
            Item(ItemKind.FACT, fact.ns, fact.fact_id): [one for one in some if one is not None]
            for fact, some in zip(facts, entities, strict=True)
        }

    async def _at(self) -> datetime:
        return self.asked.as_of or await self.session.now()


def groups_of(conflicts: Iterable[Sequence[Item]], loaded: Mapping[Item, Loaded]) -> dict[Item, int]:
    """The number of the conflict of each fact; one that has lost all its others is in none."""
    found: dict[Item, int] = {}
    for number, members in enumerate(conflicts):
        left = [item for item in members if item in loaded]
        if len(left) > 1:
            found.update(dict.fromkeys(left, number))
    return found


def rests_on(item: PackItem) -> list[Entity]:
    """The entity of a fragment, or the entity that the item is."""
    found = item.entity if item.fragment is None else item.fragment.entity
    return [] if found is None else [found]


def pack_item(run: Compilation, candidate: Candidate, loaded: Loaded) -> PackItem:
    """A candidate that entered, as an item of the pack."""
    record = loaded.record
    return PackItem(
        run=run,
        item=candidate.item,
        said=loaded.said,
        score=candidate.score,
        signals=candidate.signals,
        token_estimate=candidate.price,
        conflict=candidate.group is not None,
        fragment=record if isinstance(record, Fragment) else None,
        fact=record if isinstance(record, Fact) else None,
        entity=record if isinstance(record, Entity) else None,
    )
