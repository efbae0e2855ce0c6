"""The questions that the oracle is asked: over every field, about what may be seen, what may not, and what never was."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from tests.contract.oracle import View, public_id
from tests.contract.pack_asking import NEVER, literal, startable, written
from tests.contract.searching import Run
from tests.contract.selections import selection
from tests.fixtures.company import CLOCK, Fact, World
from tests.fixtures.world import api


def documents(view: View, seed: int) -> Iterator[str]:
    """Documents that need no variables and give no errors; together they select every field that a query can reach."""
    chance, schema = random.Random(seed), api()._schema
    yield f"{{ viewer {selection(schema, 'Viewer', 2)} knowledge {selection(schema, 'Knowledge', 2)} }}"
    spaces = [space.name for space in chance.sample(view.spaces, min(2, len(view.spaces)))]
    yield f"{{ knowledge(namespaces: {text(spaces[:1])}) {selection(schema, 'Knowledge', 2)} }}"
    given = f"question: {text(question(view, chance, k=6))}, k: 6, hops: 2"
    yield f"{{ search({given}) {selection(schema, 'Search', 2)} }}"
    deep = selection(
        schema, "Search", 4, avoid=frozenset({"Search.vector", "Search.lexical", "Search.sources", *BY_ENTITY, *AROUND})
    )
    yield f"{{ search(question: {text(question(view, chance, k=2))}, k: 2) {deep} }}"
    yield narrowed(view, chance, spaces)
    yield by_entity(view, chance)
    yield listed(view, chance, spaces)
    yield counted(view, chance, spaces)
    yield walked(view, chance, spaces)
    yield typed(view, chance)
    yield packed(view, chance)
    if view.spaces:
        yield over_time(view, chance)
    given = f"question: {text(question(view, chance, k=4))}, budget: LOW, locale: RU"
    yield f"{{ recall({given}) {selection(schema, 'Recall', 2)} }}"
    yield f"{{ nodes(ids: {text(ids(view.world, chance))}) {selection(schema, 'Node', 1)} }}"
    if view.spaces:
        yield looked_up(view, chance)
    yield reranked(view, chance)
    yield numbered(view, chance)


def reranked(view: View, chance: random.Random) -> str:
    """A search whose hits are judged: few of many, or all there are, entities without a fragment among them."""
    k = chance.choice((3, 8, 25))
    given = f"question: {text(question(view, chance, k))}, k: {k}, hops: 2, rerank: true"
    given += chance.choice(("", ', filter: {types: ["page"]}', ", channels: [LEXICAL]"))
    avoid = frozenset({"Search.vector", "Search.lexical", "Search.trace", "Search.traceId", *BY_ENTITY, *AROUND})
    return f"{{ search({given}) {selection(api()._schema, 'Search', 2, avoid=avoid)} }}"


def numbered(view: View, chance: random.Random) -> str:
    """Searches for numbers in texts that the caller sees, with masks in their place or without, and all titles in order."""
    masked = [one for one in view.fragments(view.spaces) if not view.shows(one.entity.space)]
    shown = [one for one in view.fragments(view.spaces) if view.shows(one.entity.space)]
    some = [view.world.numbers_in([one.title, one.heading, one.text]) for one in (*masked, *shown)]
    asked = [number.told(chance.choice(number.ways)) for held in some for number in held]
    fields = "{ hits { score highlights { field start end } fragment { id text } } lexical { score fragment { id } } }"
    parts = [
        f"n{n}: search(question: {text(one)}, k: 3) {fields}" for n, one in enumerate(chance.sample(asked, min(6, len(asked))))
    ]
    return "{ " + " ".join([*parts, "titles: entities(orderBy: TITLE, first: 100) { nodes { key title } }"]) + " }"


BY_ENTITY = ("Search.entities", "Search.graph", "Search.sql")
AROUND = (
    "Entity.fragments",
    "Source.fragments",
    "Source.entity",
    "SourceCard.entity",
    "Fragment.card",
    "Fragment.entity",
    "Entity.facts",
    "Source.statedFacts",
    "Fact.conflictsWith",
)


def text(value: object) -> str:
    """A literal of the query language."""
    return json.dumps(value)


def question(view: View, chance: random.Random, k: int) -> str:
    """Common words, words of single texts and identifiers, of visible and of hidden ones; no two results nearly equal."""
    while True:
        asked, view.is_close = some_words(view.world, chance), False
        run = Run(view, asked, k=k)
        if run.vector is not None and run.lexical is not None and not view.is_close:
            return asked


def some_words(world: World, chance: random.Random) -> str:
    """A question of five words."""
    told = [fragment.text.split()[-1] for fragment in chance.choices(list(world.fragments), k=2)]
    if world.people and chance.random() < 0.25:
        number = chance.choice(list(world.people))
        told.insert(chance.randrange(3), number.told(chance.choice(number.ways)))
    return " ".join([*chance.sample(world.words, 3), *told])


def narrowed(view: View, chance: random.Random, spaces: list[str]) -> str:
    """A search with a filter, weights and an instant; the filter names hidden things too."""
    entities = chance.sample(view.world.entities, min(20, len(view.world.entities)))
    filters = [
        {"keys": [entity.key for entity in entities]},
        {"relevanceScopes": [scope for entity in entities for scope in entity.scopes]},
        {"meta": {"tag": "a"}, "updatedAfter": "2025-03-01T00:00:00Z"},
        {"types": ["page"], "updatedBefore": "2025-10-01T00:00:00Z"},
        {"keys": []},
    ]
    chosen = ", ".join(f"{name}: {literal(value)}" for name, value in chance.choice(filters).items())
    fusion = "{method: WEIGHTED, weights: [{channel: LEXICAL, weight: 2.5}]}"
    given = f"question: {text(question(view, chance, k=3))}, namespaces: {text(spaces)}, k: 3, hops: 2"
    given += f", entityFilter: {entity_filter(view.world, chance)}"
    fields = selection(api()._schema, "Search", 2, avoid=frozenset({"Entity.source", "Entity.fragments"}))
    return f'{{ search({given}, filter: {{{chosen}}}, fusion: {fusion}, asOf: "2400-06-01T00:00:00Z") {fields} }}'


def by_entity(view: View, chance: random.Random) -> str:
    """Searches for entities over some channels or all, by several weights, with a filter of their own and without."""
    found, parts = selection(api()._schema, "EntityHit", 1, avoid=frozenset({"Entity.source"})), []
    asked = text(question(view, chance, k=50))
    for number in range(5):
        some = chance.sample(("VECTOR", "LEXICAL", "GRAPH", "SQL"), chance.choice((1, 2, 3)))
        given = f"question: {asked}, k: {chance.choice((1, 3, 8, 50))}, hops: {chance.choice((1, 2))}"
        given += chance.choice(("", f", channels: [{', '.join(some)}]"))
        given += chance.choice(("", f", entityFilter: {entity_filter(view.world, chance)}"))
        weights = ", ".join(f"{{channel: {channel}, weight: {chance.choice((0.0, 0.3, 1.5))}}}" for channel in some)
        given += chance.choice(("", f", fusion: {{method: WEIGHTED, weights: [{weights}]}}"))
        given += chance.choice(("", ', asOf: "2025-01-05T00:00:00Z"'))
        parts.append(f"e{number}: search({given}) {{ entities {found} graph {found} }}")
    return "{ " + " ".join(parts) + " }"


def listed(view: View, chance: random.Random, spaces: list[str]) -> str:
    """Lists of entities in several orders, one of them of given namespaces, and lists of the sql channel."""
    fields = selection(api()._schema, "EntityConnection", 2)
    parts = [f"l0: entities(namespaces: {text(spaces)}, first: 3, filter: {{}}) {fields}"]
    for number, order in enumerate(chance.sample(("KEY", "TITLE", "CREATED", "UPDATED", "OCCURRED"), 3), 1):
        parts.append(f"l{number}: entities(orderBy: {order}, first: 5, filter: {entity_filter(view.world, chance)}) {fields}")
    for number in range(4):
        given = f'question: "x", k: {chance.choice((1, 3, 50))}, entityFilter: {entity_filter(view.world, chance)}'
        parts.append(f"s{number}: search({given}) {{ sql {selection(api()._schema, 'EntityHit', 1)} }}")
    return "{ " + " ".join(parts) + " }"


GROUPED = (
    (), ("NAMESPACE",), ("KIND",), ("TYPE", "STATUS"), ("STATUS",), ("SOURCE_PATH", "NAMESPACE"), ("DAY",), ("WEEK", "KIND"),
    ("NAMESPACE", "WEEK"), ("MONTH", "STATUS"), ("TYPE", "MONTH"), ("MONTH",),
)  # fmt: skip


def counted(view: View, chance: random.Random, spaces: list[str]) -> str:
    """Every metric in groups, over all namespaces and over some, under a filter and without."""
    fields, parts = selection(api()._schema, "Aggregate", 2), []
    for number, metric in enumerate(("ENTITIES", "FRAGMENTS", "FACTS") * 2):
        given = f"metric: {metric}, dimensions: [{', '.join(chance.choice(GROUPED))}]"
        given += f", dateField: {chance.choice(('CREATED', 'UPDATED', 'OCCURRED'))}"
        given += chance.choice(("", f", namespaces: {text(spaces)}"))
        given += chance.choice(("", f", filter: {entity_filter(view.world, chance)}"))
        parts.append(f"c{number}: aggregate({given}) {fields}")
    return "{ " + " ".join(parts) + " }"


def walked(view: View, chance: random.Random, spaces: list[str]) -> str:
    """Walks of every length and way, wide and cut short, from things seen, hidden and missing."""
    fields, parts = selection(api()._schema, "Subgraph", 2, avoid=frozenset({*AROUND, "Entity.source", "SourceCard.source"})), []
    for number in range(6):
        some = chance.sample(view.world.entities, 4)
        starts = [f"{{key: {text(one.key)}}}" for one in some] + [f"{{key: {text(NEVER)}}}"]
        inside = [one for one in view.world.entities if one.space.name in spaces]
        given = chance.choice(("", f", namespaces: {text(spaces)}"))
        if inside and number % 2:
            one = chance.choice(inside)
            starts.append(f"{{namespace: {text(one.space.name)}, key: {text(one.key)}}}")
        predicates = [fact.predicate for fact in chance.sample(view.world.facts, min(100, len(view.world.facts) * 2 // 3))]
        given += f", hops: {chance.choice((1, 2, 3, 3))}, limit: {chance.choice((1, 2, 4, 9, 40))}"
        given += f", direction: {chance.choice(('IN', 'OUT', 'BOTH', 'BOTH'))}"
        given += chance.choice(("", "", f", predicates: {text(predicates)}", ", predicates: []"))
        given += chance.choice(("", ', asOf: "2025-01-05T00:00:00Z"', ', asOf: "2400-06-01T00:00:00Z"'))
        parts.append(f"w{number}: graph(start: [{', '.join(starts)}]{given}) {fields}")
    return "{ " + " ".join(parts) + " }"


def typed(view: View, chance: random.Random) -> str:
    """Typed walks over facts that hang together, from things seen, hidden, missing and of another type."""
    avoid = frozenset({*AROUND, "Entity.source", "SourceCard.source"})
    fields = selection(api()._schema, "TypedContext", 2, avoid=avoid)
    items = f"{{ sections {selection(api()._schema, 'TypedSection', 2, avoid=avoid)} }}"
    asked = [f"typedContext({typed_walk(view.world, chance)}) {chance.choice((fields, items))}" for _ in range(6)]
    return "{ " + " ".join(f"t{number}: {one}" for number, one in enumerate(asked)) + " }"


def typed_walk(world: World, chance: random.Random) -> str:
    """Arguments of a typed walk: a way over facts that meet, in steps that may also look back, and some others."""
    edges = [fact for fact in world.facts if fact.object is not None]
    near = chance.choice(edges).subject
    anchors, steps = [near, *chance.sample(world.entities, 2)], []
    for _ in range(chance.choice((1, 2, 3, 4))):
        fact = chance.choice([one for one in edges if near in (one.subject, one.object)] or edges)
        ways = chance.choice(("", ", direction: BOTH", f", direction: {'OUT' if fact.subject is near else 'IN'}"))
        ways += chance.choice(("", f", depth: {chance.choice((1, 2, 5))}")) + f", limit: {chance.choice((1, 2, 9))}"
        steps.append(f"{{relation: {text(fact.predicate)}{ways}{chance.choice(('', ', from: PREVIOUS', ', from: PREVIOUS'))}}}")
        near = fact.object if fact.subject is near and fact.object else fact.subject
    kinds = [chance.choice((one.type, one.type, one.type, "page", "nothing")) for one in anchors]
    named = [f"{{kind: {text(kind)}, value: {text(one.key)}}}" for kind, one in zip(kinds, anchors, strict=True)]
    named.append(f'{{kind: "page", value: {text(NEVER)}}}')
    given = f"anchors: [{', '.join(named)}], traverse: [{', '.join(steps)}]"
    moments = [moment for fact in chance.choices(edges, k=4) for moment in (fact.valid_from, fact.valid_to) if moment]
    return given + chance.choice(("", "", f", asOf: {text(chance.choice([CLOCK, *moments]).isoformat())}"))


def packed(view: View, chance: random.Random) -> str:
    """Packs of every kind that have something to start from, and a part of one that is entered deeper."""
    asked = [startable(view, chance, lambda: some_words(view.world, chance)) for _ in range(5)]
    avoid = frozenset({*AROUND, "Entity.source", "SourceCard.source"})
    fields = selection(api()._schema, "ContextPack", 2, avoid=avoid)
    parts = [f"p{number}: contextPack({written(given)}) {fields}" for number, given in enumerate(asked)]
    items = selection(api()._schema, "PackItem", 2, avoid=avoid)
    parts.append(f"p5: contextPack({written(asked[0])}) {{ sections(kinds: [RELEVANT_FACTS, RELATED_ENTITIES, DOCUMENTS]) "
                 f"{{ items {items} }} }}")  # fmt: skip
    return "{ " + " ".join(parts) + " }"


def over_time(view: View, chance: random.Random) -> str:
    """Facts around things, stated in things and by id, at the edges of their intervals and of the record."""
    facts, parts = [fact for fact in view.world.facts if view.sees(fact.subject.space)], []
    avoid = frozenset(
        {"Entity.facts", "Entity.fragments", "Entity.source", "Source.fragments", "Source.entity", "Fact.provenance"}
    )
    fields = selection(api()._schema, "FactConnection", 2, avoid=avoid)
    for number, fact in enumerate(chance.choices(facts, k=3) if facts else []):
        space, near = text(fact.subject.space.name), chance.choice([one for one in (fact.subject, fact.object) if one])
        parts.append(
            f"e{number}: entity(namespace: {space}, key: {text(near.key)}) {{ facts({moments(facts, chance)}) {fields} }}"
        )
        given = f"namespace: {space}, factId: {text(public_id('a', fact.subject.space, fact.fact))}{known(facts, chance)}"
        parts.append(f"f{number}: fact({given}) {{ recordedAt value conflictsWith {{ factId }} }}")
    stated = selection(api()._schema, "FactConnection", 1)
    stating = [place for fact in facts if fact.retracted is None for place in fact.places if place.source and view.sees(place)]
    some = chance.choices(stating or view.world.entities, k=4)
    parts += [
        f"s{number}: source(namespace: {text(one.space.name)}, key: {text(one.key)}) {{ statedFacts(first: 9) {stated} }}"
        for number, one in enumerate(some) if view.sees(one.space)
    ]  # fmt: skip
    return "{ " + " ".join(parts or ["viewer { principal }"]) + " }"


def moments(facts: list[Fact], chance: random.Random) -> str:
    """Arguments of a list of facts."""
    ends = [moment for fact in facts for moment in (fact.valid_from, fact.valid_to) if moment]
    given = f"first: {chance.choice((1, 2, 5))}, direction: {chance.choice(('IN', 'OUT', 'BOTH', 'BOTH'))}"
    given += chance.choice(("", f", asOf: {text(chance.choice([CLOCK, *ends]).isoformat())}")) + known(facts, chance)
    predicates = [fact.predicate for fact in chance.sample(facts, max(1, min(100, len(facts) * 2 // 3)))]
    return given + chance.choice(("", "", f", predicates: {text(predicates)}", ", predicates: []"))


def known(facts: list[Fact], chance: random.Random) -> str:
    """An instant of the record, mostly one at which a row was recorded or retracted, exactly; or none."""
    ends = [moment for fact in facts for moment in (fact.recorded, fact.retracted) if moment]
    return chance.choice(("", f", knownAt: {text(chance.choice(ends).isoformat())}"))


def entity_filter(world: World, chance: random.Random) -> str:
    """One part of an entity filter or two, naming hidden things too."""
    some = chance.sample(world.entities, min(12, len(world.entities)))
    moments = [text(chance.choice(some).updated.isoformat()) for _ in range(2)]
    owners = [attributes for entity in some for _, attributes in entity.versions]
    parts = [
        f"kinds: [{', '.join(chance.sample(('DOCUMENT', 'EPISODE', 'OBSERVATION', 'THING'), 2))}]",
        'types: ["ticket"]',
        f"statuses: {text([entity.status for entity in some if entity.status])}",
        f"sourcePaths: {text([entity.path for entity in some if entity.path])}",
        f"keys: {text([entity.key for entity in some])}",
        'meta: {tag: "b"}',
        f"meta: {literal(some_pairs(chance.choice(some).meta, chance))}",
        f"attributes: {literal(some_pairs(chance.choice(owners) if owners else {}, chance))}",
        "attributes: {}",
        f"relevanceScopes: {text(['project:shared', *some[0].scopes])}",
        f"createdAfter: {moments[0]}",
        f"createdBefore: {moments[0]}",
        f"updatedAfter: {min(moments)}, updatedBefore: {max(moments)}",
        f"occurredAfter: {moments[0]}",
        f"occurredBefore: {moments[0]}",
        "keys: []",
    ]
    first, second = chance.sample(parts, 2)
    names = [part.partition(":")[0] for part in (first, second)]
    return f"{{{first}, {second}}}" if chance.random() < 0.3 and names[0] != names[1] else f"{{{first}}}"


def some_pairs(value: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """A pair or all of those that an input object can name."""
    held = {name: one for name, one in value.items() if name.isidentifier()}
    return held if chance.random() < 0.5 or not held else dict([chance.choice(list(held.items()))])


def ids(world: World, chance: random.Random) -> list[str]:
    """Ids of every kind, of what is there and of what never was."""
    entities = chance.sample(world.entities, min(12, len(world.entities)))
    fragments = chance.sample(list(world.fragments), 8)
    made = [public_id(chance.choice("es"), entity.space, entity.id) for entity in entities]
    made += [public_id("f", fragment.entity.space, fragment.id) for fragment in fragments]
    made += [public_id(letter, world.namespaces[0], 77_777) for letter in "esfa"]
    return made


def looked_up(view: View, chance: random.Random) -> str:
    """Entities and sources by key: seen, hidden and missing ones, in a namespace that is open."""
    space = chance.choice(view.spaces)
    here = [entity for entity in view.world.entities if entity.space is space]
    elsewhere = [entity for entity in view.world.entities if entity.space is not space]
    keys = [entity.key for entity in chance.sample(here, min(6, len(here)))] + [chance.choice(elsewhere).key, NEVER]
    fields = []
    for number, key in enumerate(keys):
        kind = ("entity", "source")[number % 2]
        body = selection(api()._schema, kind.title(), 1)
        fields.append(f"f{number}: {kind}(namespace: {text(space.name)}, key: {text(key)}) {body}")
    return "{ " + " ".join(fields) + " }"
