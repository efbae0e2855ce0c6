"""Compiles packs in plain Python, slowly; shares neither code nor SQL with the product."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from tests.contract import pack_texts
from tests.contract.oracle import Refused, Step, View, chain_of_entity, chain_of_fact, chain_of_fragment, public_id
from tests.contract.over_time import holds, instant, is_known
from tests.contract.searching import Run, Signal
from tests.contract.walks import Neighbour, around
from tests.fixtures.company import CLOCK, Entity, Fact, Fragment, Namespace

WEIGHTS = {"LEXICAL": 1.0, "VECTOR": 1.0, "FACTS": 1.0, "GRAPH": 0.7, "RECENT": 0.6}
ALL = tuple(WEIGHTS)
STRATEGIES = {
    "HYBRID": ALL, "CONTEXT": ALL, "SEMANTIC": ("VECTOR",), "EXACT": ("LEXICAL",), "GRAPH": ("FACTS", "GRAPH"),
    "BRIEFING": ("FACTS", "GRAPH", "RECENT"),
}  # fmt: skip
SECTIONS = ("CURRENT", "RELEVANT_FACTS", "EPISODES", "DOCUMENTS", "RELATED_ENTITIES", "RECENT_OBSERVATIONS")
RANK_CONSTANT, EDGES, TOKENS = 60, 400, 8_000
Thing = Fragment | Fact | Entity
Places = list[tuple[float, Thing]]
"""A list of a channel, best first: raw score and item."""


def space_of(thing: Thing) -> Namespace:
    return thing.subject.space if isinstance(thing, Fact) else entity_of(thing).space


def entity_of(thing: Fragment | Entity) -> Entity:
    return thing.entity if isinstance(thing, Fragment) else thing


def place_of(thing: Thing) -> tuple[int, int, int]:
    """Where an item stands among those of its score: by kind, namespace and number."""
    kinds = (Fragment, Fact, Entity)
    return kinds.index(type(thing)), space_of(thing).ns, thing.fact if isinstance(thing, Fact) else thing.id


def id_of(thing: Thing) -> str:
    number = thing.fact if isinstance(thing, Fact) else thing.id
    return public_id({Fragment: "f", Fact: "a", Entity: "e"}[type(thing)], space_of(thing), number)


def scopes_of(thing: Thing) -> set[str]:
    return set(thing.scopes if isinstance(thing, Fact) else entity_of(thing).scopes)


@dataclass(frozen=True, eq=False)
class Item:
    """An item with what it scored and what it costs; `thing` is None for the caller's own state."""

    pack: Pack
    thing: Thing | None
    text: str
    score: float = 0.0
    signals: list[Signal] = field(default_factory=list)
    conflict: bool = False

    @property
    def kind(self) -> str:
        return "CURRENT" if self.thing is None else type(self.thing).__name__.upper()

    @property
    def id(self) -> str:
        return "current" if self.thing is None else id_of(self.thing)

    @property
    def space(self) -> Namespace | None:
        return None if self.thing is None else space_of(self.thing)

    @property
    def price(self) -> int:
        return pack_texts.price(self.text)

    def title(self, view: View) -> str:
        return "" if self.thing is None else pack_texts.title_of(view, self.thing)

    def label(self, view: View) -> str:
        return pack_texts.sentence(view, self.thing) if isinstance(self.thing, Fact) else self.title(view)

    @property
    def section(self) -> str:
        if isinstance(self.thing, Fragment):
            kinds = {"EPISODE": "EPISODES", "OBSERVATION": "RECENT_OBSERVATIONS"}
            return kinds.get(self.thing.entity.kind, "DOCUMENTS")
        return {"CURRENT": "CURRENT", "FACT": "RELEVANT_FACTS", "ENTITY": "RELATED_ENTITIES"}[self.kind]

    def chain(self, view: View) -> list[Step]:
        """What the item rests on, as far as a reader may see it."""
        if isinstance(self.thing, Entity):
            facts = [fact for fact in self.pack.led_to(self.thing) if view.sees(fact)]
            return [*chain_of_entity(view, self.thing), *(step for fact in facts for step in chain_of_fact(view, fact))]
        if isinstance(self.thing, Fact):
            return chain_of_fact(view, self.thing)
        return [] if self.thing is None else chain_of_fragment(view, self.thing)


class Pack:
    """One pack, compiled by looking at everything."""

    def __init__(
        self, view: View, question: str = "", namespaces: list[str] | None = None, relevanceScopes: list[str] | None = None,
        allowedScopes: list[str] | None = None, anchors: list[dict[str, Any]] | None = None,
        subject: dict[str, str] | None = None, ephemeralContext: dict[str, Any] | None = None, maxTokens: int | None = None,
        strategy: str = "HYBRID", asOf: str | None = None, knownAt: str | None = None, k: int = 8, locale: str = "AUTO",
    ) -> None:  # fmt: skip
        self.view, self.question, self.k, self.strategy, self.language = view, question, k, strategy, locale
        self.depth, self.nodes = view.world.reach
        self.pool = min(400, max(20, k * max(2, len(set(namespaces or ())))))
        meant = f"{subject['type']}:{subject['id']}" if subject else None
        self.requested = {*(relevanceScopes or ()), *([meant] if meant else ())}
        self.allowed = None if allowedScopes is None else set(allowedScopes)
        self.at, self.known = instant(asOf) or CLOCK, instant(knownAt)
        self.hour = instant(asOf) or CLOCK.replace(minute=0, second=0, microsecond=0)
        self.state = ephemeralContext or None
        self.budget = TOKENS if maxTokens is None else maxTokens
        self.has_start = bool(anchors) or meant is not None
        if not self.channels:
            raise Refused("BAD_INPUT")
        self.spaces = view.named(namespaces)
        named = [(one.get("namespace"), one["key"]) for one in anchors or ()] + ([(None, meant)] if meant else [])
        keys = {(space.name if name is None else name, key) for name, key in named for space in self.spaces}
        self.anchors = {entity for entity in view.entities(self.spaces) if (entity.space.name, entity.key) in keys}
        self.run = Run(view, question, namespaces, k)
        self.run.candidates = [one for one in self.run.candidates if self.passes(one)]

    # ------------------------------------------------------------------------------------------------ channels

    @cached_property
    def channels(self) -> list[str]:
        """The channels of the strategy that were given something to start from."""
        asked = bool(self.question.strip())
        text_runs = asked and {"LEXICAL", "VECTOR"} & set(STRATEGIES[self.strategy]) != set()
        can = {"LEXICAL": asked, "VECTOR": asked, "FACTS": self.has_start, "GRAPH": self.has_start or text_runs,
               "RECENT": self.requested != set()}  # fmt: skip
        return [channel for channel in STRATEGIES[self.strategy] if can[channel]]

    def passes(self, thing: Thing) -> bool:
        """The rule of relevance scopes."""
        held = scopes_of(thing)
        wanted = not self.requested or not held or bool(held & self.requested)
        return wanted and (self.allowed is None or not held or bool(held & self.allowed))

    @cached_property
    def lists(self) -> dict[str, Places]:
        """The whole list of each channel that runs."""
        found = {"LEXICAL": self.text("LEXICAL"), "VECTOR": self.text("VECTOR"), "FACTS": self.facts, "GRAPH": self.graph,
                 "RECENT": self.recent}  # fmt: skip
        return {channel: found[channel] for channel in self.channels}

    def text(self, channel: str) -> Places:
        if channel not in self.channels:
            return []
        return [(raw, one) for raw, one in (self.run.lexical if channel == "LEXICAL" else self.run.vector)]

    @cached_property
    def text_hits(self) -> list[Fragment]:
        """The first of what words and meaning admit, fused plainly."""
        scores: dict[Fragment, float] = {}
        for channel in ("LEXICAL", "VECTOR"):
            for rank, (_, one) in enumerate(self.text(channel)[: self.k]):
                assert isinstance(one, Fragment)
                scores[one] = scores.get(one, 0.0) + 1.0 / (RANK_CONSTANT + rank + 1)
        return sorted(scores, key=lambda one: (-scores[one], one.entity.space.ns, one.id))[: self.k]

    @cached_property
    def standing(self) -> list[Fact]:
        """The visible facts that hold at the instant, as recorded at the other."""
        return [fact for fact in self.view.facts(self.spaces) if holds(fact, self.at) and is_known(fact, self.known)]

    def walked(self, begin: set[Entity], hops: int) -> list[Neighbour]:
        edges = [fact for fact in self.standing if fact.object is not None]
        return around(begin, edges, hops, "BOTH", self.nodes).entities

    @cached_property
    def around(self) -> list[Neighbour]:
        """All that the walk of the graph finds."""
        return self.walked(self.anchors | {one.entity for one in self.text_hits}, self.depth) if "GRAPH" in self.channels else []

    @property
    def graph(self) -> Places:
        return [(1 / one.hops, one.entity) for one in self.around if self.passes(one.entity)]

    def led_to(self, entity: Entity) -> list[Fact]:
        """The facts that the walk came to an entity by: the last first, then those before them."""
        by_entity = {one.entity: one for one in self.around}
        last = by_entity[entity].via if entity in by_entity else []
        before = {end for fact in last for end in (fact.subject, fact.object) if end is not entity and end in by_entity}
        nearer = {one for one in before if by_entity[one].hops < by_entity[entity].hops}
        return [*last, *sorted({fact for one in nearer for fact in by_entity[one].via}, key=lambda fact: fact.row)]

    @property
    def facts(self) -> Places:
        distances = dict.fromkeys(self.anchors, 0)
        distances |= {one.entity: one.hops for one in self.walked(self.anchors, self.depth - 1)}
        found = []
        for fact in (one for one in self.standing if self.passes(one)):
            near = [distances[end] for end in (fact.subject, fact.object) if end in distances]
            if near:
                found.append((1 + min(near), fact))
        ages = {fact: (fact.valid_from is None, CLOCK - (fact.valid_from or CLOCK)) for _, fact in found}
        found.sort(key=lambda one: (one[0], -one[1].evidence, ages[one[1]], place_of(one[1])))
        return [(1 / distance, fact) for distance, fact in found[: min(self.pool, EDGES)]]

    @property
    def recent(self) -> Places:
        notes = [one for one in self.view.entities(self.spaces) if one.kind == "OBSERVATION" and self.passes(one)]
        found = [((one.occurred or one.updated).timestamp(), fragment) for one in notes for fragment in one.fragments]
        found.sort(key=lambda one: (-one[0], place_of(one[1])))
        return [(raw, fragment) for raw, fragment in found[: self.pool]]

    def ranks_of(self, thing: Thing) -> dict[str, int]:
        """Where the lists hold an item."""
        return self.places.get(thing, {})

    @cached_property
    def places(self) -> dict[Thing, dict[str, int]]:
        found: dict[Thing, dict[str, int]] = {}
        for channel, listed in self.lists.items():
            for rank, (_, thing) in enumerate(listed):
                found.setdefault(thing, {})[channel] = rank
        return found

    # ------------------------------------------------------------------------------------------------ candidates

    @cached_property
    def admitted(self) -> set[Thing]:
        return {thing for listed in self.lists.values() for _, thing in listed[: self.k]}

    @cached_property
    def groups(self) -> dict[Fact, list[Fact]]:
        """For each fact that is in conflict all that are in conflict with each other, itself among them."""
        found: dict[Fact, list[Fact]] = {}
        for fact in self.admitted:
            if not isinstance(fact, Fact) or (fact.subject.space, fact.predicate) not in self.view.world.single:
                continue
            about = [f for f in self.standing if f.subject is fact.subject and f.predicate == fact.predicate and self.passes(f)]
            if len({pack_texts.said_by(one) for one in about}) > 1:
                found |= dict.fromkeys(about, about)
        return found

    @cached_property
    def candidates(self) -> list[Item]:
        """What may enter, best first."""
        made = [self.item(thing) for thing in self.admitted | set(self.groups)]
        return sorted(made, key=lambda item: (-item.score, place_of(item.thing)) if item.thing else (0.0,))

    def item(self, thing: Thing) -> Item:
        signals, score = self.signals(thing), 0.0
        for signal in signals:
            score += signal.contribution
        return Item(self, thing, pack_texts.text_of(self.view, thing, self.at), score, signals, thing in self.groups)

    def signals(self, thing: Thing) -> list[Signal]:
        made = []
        for channel, rank in self.ranks_of(thing).items():
            if rank < self.k:
                weight, raw = WEIGHTS[channel], self.lists[channel][rank][0]
                made.append(Signal(channel, rank, raw, weight, weight / (RANK_CONSTANT + rank + 1)))

        def more(kind: str, weight: float, raw: float | None, contribution: float) -> None:
            made.append(Signal(None, None, raw, weight, contribution, kind))

        if isinstance(thing, Fragment) and self.run.matched(thing):
            more("IDENTIFIER", 0.010, None, 0.010)
        if scopes_of(thing) & self.requested:
            more("RELEVANCE_SCOPE", 0.004, None, 0.004)
        if isinstance(thing, Fact):
            if thing.valid_to is None:
                more("IN_FORCE", 0.003, None, 0.003)
            more("EVIDENCE", 0.002, float(thing.evidence), 0.002 * thing.evidence)
        hours = max(0, (self.hour - time_of(thing)) // timedelta(hours=1))
        more("FRESHNESS", 0.005, float(hours), 0.005 * 0.5 ** (hours / 336))
        return made

    # ------------------------------------------------------------------------------------------------ choosing

    @cached_property
    def choice(self) -> Choice:
        choice = Choice(self.budget)
        if self.state is not None:
            choice.state(self)
        for item in self.candidates:
            choice.offer(item, self.group_of(item))
        return choice

    def group_of(self, item: Item) -> list[Item]:
        """The candidates that must enter together with this one, best first."""
        if not isinstance(item.thing, Fact) or item.thing not in self.groups:
            return [item]
        return [one for one in self.candidates if isinstance(one.thing, Fact) and one.thing in self.groups[item.thing]]

    @cached_property
    def sections(self) -> list[tuple[str, list[Item]]]:
        listed = [(name, [item for item in self.choice.entered if item.section == name]) for name in SECTIONS]
        return [(name, items) for name, items in listed if items]

    def shown(self, kinds: list[str] | None = None) -> list[tuple[str, list[Item]]]:
        return [section for section in self.sections if kinds is None or section[0] in kinds]

    @property
    def items(self) -> list[Item]:
        """All items in the order of the sections."""
        return [item for _, items in self.sections for item in items]

    @property
    def conflicts(self) -> list[Thing | None]:
        return [item.thing for item in self.items if item.conflict]

    @property
    def sources(self) -> list[Entity]:
        found: list[Entity] = []
        for thing in (item.thing for item in self.items):
            if isinstance(thing, Fact):
                found += sorted((place for place in thing.places if self.view.sees(place)), key=lambda place: place.id)
            elif thing is not None:
                found.append(entity_of(thing))
        return list(dict.fromkeys(found))

    @property
    def rendered(self) -> str:
        return pack_texts.rendered(self)


class Choice:
    """What entered a budget, what was dropped, in order."""

    def __init__(self, budget: int) -> None:
        self.budget, self.used, self.is_cut = budget, 0, False
        self.entered: list[Item] = []
        self.dropped: list[tuple[Item, str]] = []
        self.tried: set[Item] = set()

    def state(self, pack: Pack) -> None:
        """The caller's own state comes first, cut where it must be."""
        whole = pack_texts.compact(pack.state)
        text = pack_texts.cut(whole, self.budget)
        self.is_cut = text != whole
        self.enter([Item(pack, None, text)])

    def offer(self, item: Item, group: list[Item]) -> None:
        if item in self.tried:
            return
        self.tried |= set(group)
        entities = {one.thing.entity for one in self.entered if isinstance(one.thing, Fragment)}
        if (not item.conflict and any(one.text == item.text for one in self.entered)) or item.thing in entities:
            self.dropped.append((item, "DUPLICATE"))
            return
        owner = item.thing.entity if isinstance(item.thing, Fragment) else None
        replaced = [one for one in self.entered if owner is not None and one.thing is owner]
        free = self.budget - self.used + sum(one.price for one in replaced)
        if sum(one.price for one in group) > free:
            self.dropped += [(one, "OVER_BUDGET") for one in group]
            return
        for one in replaced:
            self.entered.remove(one)
            self.used -= one.price
            self.dropped.append((one, "DUPLICATE"))
        self.enter(group)

    def enter(self, group: list[Item]) -> None:
        self.entered += group
        self.used += sum(one.price for one in group)

    @property
    def truncated(self) -> bool:
        return self.is_cut or self.dropped != []


def time_of(thing: Thing) -> datetime:
    if isinstance(thing, Fact):
        return thing.valid_from or thing.recorded
    return entity_of(thing).occurred or entity_of(thing).updated
