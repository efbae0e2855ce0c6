"""Requests of many random selections that ask for personal data by every way: in questions, filters, keys and cursors."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from graphql import FieldNode, GraphQLSchema, TypeInfo, TypeInfoVisitor, Visitor, get_named_type, visit

from tests.contract.asking import AROUND, entity_filter, ids, some_pairs, text, typed_walk
from tests.contract.oracle import View, public_id
from tests.contract.pack_asking import literal
from tests.contract.parsing import operation_of
from tests.contract.selections import random_choice, selection
from tests.fixtures.company import Entity, World
from tests.fixtures.personal_numbers import Number, strings_in
from tests.fixtures.world import api

ECHOES = frozenset({"Search.question", "ContextPack.question", "ResolvedAnchor.value", "UnresolvedAnchor.value"})
"""Fields that say what was sent."""
PARTS = 8
"""Selections of a request."""


def requests(view: View, chance: random.Random) -> Iterator[str]:
    """Requests without end of one caller, `PARTS` selections each; most name numbers that the caller may not read."""
    while True:
        asking = Asking(view, chance)
        yield "{ " + " ".join(f"p{number}: {asking.part()}" for number in range(PARTS)) + " }"


class Asking:
    """One request; its first search may be answered and reranked, which a request may be but once."""

    def __init__(self, view: View, chance: random.Random) -> None:
        self.view, self.world, self.chance = view, view.world, chance
        self.unread = sorted(view.unread, key=lambda one: one.normal)
        self.was_answered = False

    def part(self) -> str:
        """One selection."""
        makers = (self.search, self.search, self.recall, self.entities, self.aggregate, self.graph, self.typed, self.pack,
                  self.pack, self.entity, self.source, self.fact, self.nodes, self.state)  # fmt: skip
        return self.chance.choice(makers)()

    def search(self) -> str:
        given = f"question: {text(self.question())}, k: {self.chance.choice((2, 5))}, hops: 1"
        given += self.maybe(f", filter: {{meta: {literal(self.meta())}}}", f", entityFilter: {self.filter()}")
        if self.was_answered:
            return f"search({given}) {self.fields('Search', 'Search.answer')}"
        self.was_answered = True
        deep = "{ answer { text citations { marker fragment { title heading text } } } }"
        return f"search({given}{self.maybe(', rerank: true')}) {self.either(self.fields('Search'), deep)}"

    def recall(self) -> str:
        return f"recall(question: {text(self.question())}, budget: LOW) {self.fields('Recall')}"

    def entities(self) -> str:
        order = self.chance.choice(("KEY", "TITLE", "TITLE", "UPDATED"))
        after = self.maybe(f", after: {text(self.told())}")
        return f"entities(orderBy: {order}, first: 3, filter: {self.filter()}{after}) {self.fields('EntityConnection')}"

    def aggregate(self) -> str:
        groups = self.chance.choice(("STATUS", "SOURCE_PATH", "STATUS, SOURCE_PATH", "NAMESPACE, STATUS"))
        given = f"metric: {self.chance.choice(('ENTITIES', 'FRAGMENTS', 'FACTS'))}, dimensions: [{groups}]"
        return f"aggregate({given}{self.maybe(f', filter: {self.filter()}')}) {{ total buckets {{ count values {{ value }} }} }}"

    def graph(self) -> str:
        start = f"{{key: {text(self.told())}}}, {{key: {text(self.some().key)}}}"
        return f"graph(start: [{start}], limit: 5) {self.fields('Subgraph')}"

    def typed(self) -> str:
        given = typed_walk(self.world, self.chance)
        named = f"anchors: [{{kind: {text(self.some().type)}, value: {text(self.told())}}}, "
        fields = self.either(self.fields("TypedContext"), "{ sections { items { attributes entity { title } } } }")
        return f"typedContext({given.replace('anchors: [', named, 1)}) {fields}"

    def pack(self) -> str:
        anchors = f"[{{key: {text(self.told())}}}, {{key: {text(self.some().key)}}}]"
        given = f"question: {text(self.question())}, anchors: {anchors}, k: 5, maxTokens: {self.chance.choice((40, 300))}"
        given += f", relevanceScopes: [{text('person:' + self.number().normal)}]"
        deep = ("{ sections { items { title text sourcePath provenance { label by uri } } } }",
                "{ budget { dropped { title } } trace { candidates(first: 100) { nodes { title } } } }")  # fmt: skip
        return f"contextPack({given}) {self.either(self.fields('ContextPack'), self.chance.choice(deep))}"

    def entity(self) -> str:
        one = self.some()
        key = self.chance.choice((one.key, one.key, self.told()))
        return f"entity(namespace: {text(one.space.name)}, key: {text(key)}) {self.fields('Entity', wide=True)}"

    def source(self) -> str:
        one = self.some()
        return f"source(namespace: {text(one.space.name)}, key: {text(one.key)}) {self.fields('Source', wide=True)}"

    def fact(self) -> str:
        seen = [fact for fact in self.view.facts(self.view.spaces) if fact.value is not None and fact.retracted is None]
        if not seen:
            return self.entity()
        fact = self.chance.choice(seen)
        given = f"namespace: {text(fact.subject.space.name)}, factId: {text(public_id('a', fact.subject.space, fact.fact))}"
        return f"fact({given}) {self.fields('Fact', wide=True)}"

    def nodes(self) -> str:
        some = [*self.chance.sample(ids(self.world, self.chance), 3), self.told()]
        return f"nodes(ids: {text(some)}) {selection(api()._schema, 'Node', 0, random_choice(self.chance, 0.6))}"

    def state(self) -> str:
        kind = self.chance.choice(("viewer", "knowledge"))
        return f"{kind} {self.fields(kind.title())}"

    # ------------------------------------------------------------------------------------------------ parts

    def fields(self, kind: str, *avoid: str, wide: bool = False) -> str:
        """A random part of a type, without what says what was sent."""
        depth, share = self.chance.choice(((1, 0.7), (1, 0.7), (2, 0.4), (3, 0.2)))
        without = ECHOES | set(avoid) | (set() if wide else set(AROUND))
        return selection(api()._schema, kind, depth, random_choice(self.chance, share), avoid=frozenset(without))

    def either(self, often: str, seldom: str) -> str:
        return often if self.chance.random() < 0.8 else seldom

    def maybe(self, *parts: str) -> str:
        return self.chance.choice(parts) if self.chance.random() < 0.5 else ""

    def some(self) -> Entity:
        """An entity, mostly one in which the caller meets masks."""
        seen = self.view.entities(space for space in self.view.spaces if not self.view.shows(space))
        return self.chance.choice(seen or self.view.entities(self.view.spaces))

    def number(self) -> Number:
        return self.chance.choice(self.unread)

    def told(self) -> str:
        """A number as a text of its own, in any spelling."""
        number = self.number()
        return self.chance.choice((number.told, str))(self.chance.choice(number.ways))

    def question(self) -> str:
        """A number alone, numbers among words, or words of a text that the caller reads masked."""
        words = self.chance.sample(self.world.words, 2)
        return self.chance.choice((
            self.told(), f"{words[0]} {self.told()} {words[1]}", f"{self.told()} {self.told()}", " ".join(words),
            f"{words[0]} phone card passport email inn snils ogrn iban",
        ))  # fmt: skip

    def meta(self) -> dict[str, Any]:
        """Pairs of somebody's meta data or attributes that hold a number; whole numbers as fractions too."""
        held = [one for entity in self.world.entities for one in (entity.meta, *(pairs for _, pairs in entity.versions))]
        some = [one for one in held if self.world.numbers_in(one)]
        given = some_pairs(self.chance.choice(some), self.chance) if some else {}
        return {name: float(one) if name == "inn" and self.chance.random() < 0.5 else one for name, one in given.items()}

    def filter(self) -> str:
        """A filter that names a number wherever a filter takes a text."""
        return self.chance.choice((
            f"{{meta: {literal(self.meta())}}}", f"{{attributes: {literal(self.meta())}}}",
            f"{{keys: [{text(self.told())}]}}", f"{{statuses: [{text(self.told())}]}}",
            f"{{sourcePaths: [{text(self.told())}]}}", entity_filter(self.world, self.chance), "{}",
        ))  # fmt: skip


class Texts(Visitor):
    """Collects the fields of a document that give text, as `Type.field`."""

    def __init__(self, info: TypeInfo) -> None:
        super().__init__()
        self.info = info
        self.seen = set[str]()

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        parent, kind = self.info.get_parent_type(), self.info.get_type()
        if parent is not None and kind is not None and str(get_named_type(kind)) in ("String", "JSON"):
            self.seen.add(f"{parent.name}.{node.name.value}")


def texts_of(schema: GraphQLSchema, document: str) -> set[str]:
    """The fields that give text in a document."""
    info = TypeInfo(schema)
    texts = Texts(info)
    visit(operation_of(document), TypeInfoVisitor(info, texts))
    return texts.seen - {f"{one}.__typename" for one in schema.type_map}


def masks_in(answer: Any) -> set[str]:
    """The kinds whose masks stand in an answer."""
    return {found for found in ("EMAIL", "PHONE", "CARD", "INN", "OGRN", "SNILS", "PASSPORT", "IBAN")
            if any(f"[{found}]" in one for one in strings_in(answer))}  # fmt: skip


def shown_to(world: World, answer: str) -> int:
    """How many numbers of a world stand in an answer."""
    return sum(json.dumps(one.ways[0], ensure_ascii=False)[1:-1] in answer for one in world.people)
