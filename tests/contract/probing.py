"""Small questions without end: one root field each with random arguments, and a random part of what lies below it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator

from tests.contract.asking import AROUND, GROUPED, NEVER, entity_filter, ids, known, moments, some_words, text, typed_walk
from tests.contract.oracle import View, public_id
from tests.contract.pack_asking import lawful, written
from tests.contract.selections import random_choice, selection
from tests.fixtures.company import CLOCK, Entity
from tests.fixtures.world import api

CHANNELS = ("VECTOR", "LEXICAL", "GRAPH", "SQL")
Making = Callable[["Probe"], str]


def probes(view: View, chance: random.Random) -> Iterator[str]:
    """Questions that one caller may send; some name what is closed to it and get an error."""
    makers: tuple[tuple[int, Making], ...] = (
        (7, Probe.search), (1, Probe.recall), (4, Probe.entities), (4, Probe.aggregate), (4, Probe.graph),
        (2, Probe.by_key), (2, Probe.by_id), (1, Probe.state), (1, Probe.viewer), (4, Probe.facts), (3, Probe.fact),
        (2, Probe.stated),
        (4, Probe.typed),
        (6, Probe.pack),
    )  # fmt: skip
    weights, functions = zip(*makers, strict=True)
    while True:
        yield "{ " + chance.choices(functions, weights)[0](Probe(view, chance)) + " }"


class Probe:
    """Makes one question."""

    def __init__(self, view: View, chance: random.Random) -> None:
        self.view, self.world, self.chance = view, view.world, chance

    def search(self) -> str:
        given = f"question: {text(some_words(self.world, self.chance))}, k: {self.chance.choice((1, 2, 3, 5, 8, 20, 50))}"
        some = self.chance.sample(CHANNELS, self.chance.choice((1, 2, 3)))
        weights = ", ".join(f"{{channel: {one}, weight: {self.chance.choice((0.0, 0.4, 1.5))}}}" for one in some)
        given += self.spaces() + self.moment() + self.maybe(f", hops: {self.chance.choice((1, 2))}")
        given += self.maybe(f", channels: [{', '.join(some)}]")
        given += self.maybe(f", fusion: {{method: WEIGHTED, weights: [{weights}]}}")
        given += self.maybe(f", entityFilter: {entity_filter(self.world, self.chance)}")
        given += self.maybe(f", filter: {self.fragment_filter()}")
        return f"search({given}) {self.fields('Search')}"

    def recall(self) -> str:
        budget = self.chance.choice(("LOW", "MID", "HIGH"))
        given = f"question: {text(some_words(self.world, self.chance))}, budget: {budget}{self.spaces()}"
        return f"recall({given}) {self.fields('Recall')}"

    def entities(self) -> str:
        order = self.chance.choice(("KEY", "TITLE", "CREATED", "UPDATED", "OCCURRED"))
        given = f"orderBy: {order}, first: {self.chance.choice((1, 3, 10))}{self.spaces()}"
        given += self.maybe(f", filter: {entity_filter(self.world, self.chance)}")
        return f"entities({given}) {self.fields('EntityConnection')}"

    def aggregate(self) -> str:
        metric = self.chance.choice(("ENTITIES", "FRAGMENTS", "FACTS"))
        days = self.chance.choice(("CREATED", "UPDATED", "OCCURRED"))
        groups = [one for one in GROUPED if "DAY" not in one or self.chance.random() < 0.1]
        given = f"metric: {metric}, dimensions: [{', '.join(self.chance.choice(groups))}], dateField: {days}{self.spaces()}"
        given += self.maybe(f", filter: {entity_filter(self.world, self.chance)}")
        return f"aggregate({given}) {{ total buckets {{ count values {{ dimension value }} }} }}"

    def graph(self) -> str:
        starts = [f"{{key: {text(self.entity().key)}}}" for _ in range(self.chance.choice((1, 1, 2, 4)))]
        spaces = self.spaces()
        if not spaces and self.chance.random() < 0.4:
            keys = Counter(entity.key for entity in self.world.entities)
            twins = [entity for entity in self.world.entities if keys[entity.key] > 1 and self.view.sees(entity.space)]
            one = self.chance.choice(twins or self.world.entities)
            starts = [f"{{namespace: {text(one.space.name)}, key: {text(one.key)}}}"]
        predicates = [fact.predicate for fact in self.chance.sample(self.world.facts, min(60, len(self.world.facts) * 2 // 3))]
        given = f"start: [{', '.join(starts)}]{spaces}{self.moment()}"
        given += f", hops: {self.chance.choice((1, 2, 3))}, limit: {self.chance.choice((1, 2, 5, 12, 40))}"
        given += self.maybe(f", direction: {self.chance.choice(('IN', 'OUT'))}") + self.maybe(f", predicates: {text(predicates)}")
        return f"graph({given}) {self.fields('Subgraph')}"

    def typed(self) -> str:
        return f"typedContext({typed_walk(self.world, self.chance)}{self.spaces()}) {self.fields('TypedContext')}"

    def pack(self) -> str:
        given = lawful(self.view, self.chance, lambda: some_words(self.world, self.chance))
        return f"contextPack({written(given)}) {self.fields('ContextPack')}"

    def by_key(self) -> str:
        entity, kind = self.entity(), self.chance.choice(("entity", "source"))
        key = self.chance.choice((entity.key, entity.key, entity.key, self.entity().key, NEVER))
        return f"{kind}(namespace: {text(entity.space.name)}, key: {text(key)}) {self.fields(kind.title())}"

    def facts(self) -> str:
        fact = self.chance.choice(self.world.facts)
        entity = self.chance.choice([one for one in (fact.subject, fact.object) if one])
        ends = known([fact], self.chance)[2:]
        conflicts = f"conflict{f'({ends})' if ends else ''} conflictsWith{f'({ends})' if ends else ''} {{ factId predicate }}"
        fields = f"{{ totalCount pageInfo {{ hasNextPage }} nodes {{ factId validFrom validTo retractedAt {conflicts} }} }}"
        near = [one for one in self.world.facts if entity in (one.subject, one.object)]
        given = f"namespace: {text(entity.space.name)}, key: {text(entity.key)}"
        return f"entity({given}) {{ key facts({moments(near, self.chance)}) {fields} }}"

    def stated(self) -> str:
        places = [place for fact in self.world.facts for place in fact.places if place.source]
        one = self.chance.choice(places or self.world.entities)
        given, first = f"namespace: {text(one.space.name)}, key: {text(one.key)}", self.chance.choice((1, 4))
        return f"source({given}) {{ key statedFacts(first: {first}) {{ totalCount nodes {{ factId predicate }} }} }}"

    def fact(self) -> str:
        fact = self.chance.choice([one for one in self.world.facts if one.places] or self.world.facts)
        given = f"factId: {text(public_id('a', fact.subject.space, fact.fact))}{known([fact], self.chance)}"
        return f"fact(namespace: {text(fact.subject.space.name)}, {given}) {self.fields('Fact')}"

    def by_id(self) -> str:
        some = self.chance.sample(ids(self.world, self.chance), 5)
        return f"nodes(ids: {text(some)}) {selection(api()._schema, 'Node', 0)}"

    def state(self) -> str:
        given = self.spaces()[2:]
        return f"knowledge{f'({given})' if given else ''} {self.fields('Knowledge')}"

    def viewer(self) -> str:
        return f"viewer {self.fields('Viewer')}"

    # ------------------------------------------------------------------------------------------------ parts

    def fields(self, kind: str) -> str:
        """A random part of a type, seldom a deep one, never empty."""
        depth, share = self.chance.choice(((1, 0.5), (1, 0.5), (2, 0.25), (2, 0.25), (3, 0.15)))
        return selection(api()._schema, kind, depth, random_choice(self.chance, share), avoid=frozenset(AROUND))

    def maybe(self, part: str) -> str:
        return part if self.chance.random() < 0.3 else ""

    def spaces(self) -> str:
        """Namespaces: mostly all, often some that are open, seldom one that is closed or never was."""
        which = self.chance.random()
        if which < 0.5 or (which < 0.93 and not self.view.spaces):
            return ""
        if which < 0.93:
            some = self.chance.sample(self.view.spaces, self.chance.randint(1, len(self.view.spaces)))
            return f", namespaces: {text([space.name for space in some])}"
        return f", namespaces: {text([self.chance.choice([space.name for space in self.world.namespaces] + ['never'])])}"

    def moment(self) -> str:
        """An instant: mostly none, often one at which a fact begins or ends, exactly."""
        ends = [
            moment for fact in self.chance.choices(self.world.facts, k=4) for moment in (fact.valid_from, fact.valid_to) if moment
        ]
        return self.maybe(f", asOf: {text(self.chance.choice([CLOCK, *ends]).isoformat())}")

    def entity(self) -> Entity:
        return self.chance.choice(self.world.entities)

    def fragment_filter(self) -> str:
        some = [self.entity() for _ in range(12)]
        moment = text(self.entity().updated.isoformat())
        return self.chance.choice((
            f"{{keys: {text([entity.key for entity in some])}}}",
            f"{{relevanceScopes: {text([scope for entity in some for scope in entity.scopes])}}}",
            '{meta: {tag: "a"}}',
            f'{{types: ["page"], updatedBefore: {moment}}}',
            f"{{updatedAfter: {moment}}}",
            "{kinds: [DOCUMENT, EPISODE]}",
        ))  # fmt: skip
