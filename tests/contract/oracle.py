"""Computes in plain Python what each caller must see of a world; shares neither code nor SQL with the product."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from tests.fixtures.embedders import HashEmbedder
from tests.fixtures.random_world import ROLES, Entity, Fact, Fragment, Namespace, Principal, Source, World

RANK_CONSTANT, K1, B = 60, 1.2, 0.75  # as in `tests.fixtures.world.tuned`, whatever a deployment weighs by


@dataclass(frozen=True)
class Filter:
    """The parts of a fragment filter; None is as left out."""

    meta: dict[str, Any] | None = None
    kinds: list[str] | None = None
    types: list[str] | None = None
    keys: list[str] | None = None
    relevanceScopes: list[str] | None = None
    updatedAfter: str | None = None
    updatedBefore: str | None = None

    def admits(self, fragment: Fragment) -> bool:
        entity = fragment.entity
        return (
            (self.meta is None or self.meta.items() <= fragment.meta.items())
            and (self.kinds is None or entity.kind in self.kinds)
            and (self.types is None or entity.type in self.types)
            and (self.keys is None or entity.key in self.keys)
            and (self.relevanceScopes is None or bool(set(self.relevanceScopes) & set(entity.scopes)))
            and (self.updatedAfter is None or entity.updated > datetime.fromisoformat(self.updatedAfter))
            and (self.updatedBefore is None or entity.updated < datetime.fromisoformat(self.updatedBefore))
        )


@dataclass(frozen=True)
class Signal:
    channel: str
    rank: int
    raw: float
    weight: float
    contribution: float


@dataclass(frozen=True, eq=False)
class Hit:
    fragment: Fragment
    score: float
    signals: list[Signal]
    run: Run


@dataclass(frozen=True, eq=False)
class Neighbour:
    entity: Entity
    hops: int
    via: list[Fact]


@dataclass(frozen=True)
class Step:
    kind: str
    label: str
    space: Namespace | None = None
    key: str | None = None
    at: datetime | None = None
    by: str | None = None
    uri: str | None = None
    sha256: str | None = None
    node: Any = None


class View:
    """What one principal may see of a world."""

    def __init__(self, world: World, me: Principal) -> None:
        self.world = world
        self.me = me
        self.stands_for = self.closure(me)

    def closure(self, me: Principal) -> set[int]:
        """The principal, every group that holds it at any depth, and everyone."""
        found, front = {me.id, 1}, [me.id, 1]
        while front:
            one = front.pop()
            for group in self.world.principals:
                if group.id not in found and any(member.id == one for member in group.members):
                    found.add(group.id)
                    front.append(group.id)
        return found

    def roles(self, space: Namespace) -> list[str]:
        """The roles held in a namespace, least first."""
        held = set(ROLES) if self.me.administrator else {role for id, role in space.roles if id in self.stands_for}
        return [role for role in ROLES if role in held]

    @cached_property
    def spaces(self) -> list[Namespace]:
        """The namespaces that may be read, by name."""
        return sorted((space for space in self.world.namespaces if self.roles(space)), key=lambda space: space.name)

    def sees(self, thing: Any) -> bool:
        """Whether the caller may see a principal's name, a namespace, an entity or a fact."""
        if isinstance(thing, Principal):
            return thing.id in self.stands_for
        if isinstance(thing, Namespace):
            return thing in self.spaces
        if isinstance(thing, Entity):
            granted = not thing.acl or bool(thing.readers & self.stands_for)
            return thing.space in self.spaces and (granted or {"WRITER", "ADMIN"} & set(self.roles(thing.space)) != set())
        if isinstance(thing, Fact):
            ends = self.sees(thing.subject) and (thing.object is None or self.sees(thing.object))
            return ends and (not thing.places or any(self.sees(place) for place in thing.places))
        raise TypeError(thing)

    @cached_property
    def forbidden(self) -> list[str]:
        """Tokens that no byte for this caller may hold."""
        return [token for token, owners in self.world.owners.items() if not any(self.sees(owner) for owner in owners)]

    def entities(self, spaces: Iterable[Namespace]) -> list[Entity]:
        among = list(spaces)
        return [entity for entity in self.world.entities if entity.space in among and self.sees(entity)]

    def fragments(self, spaces: Iterable[Namespace]) -> list[Fragment]:
        return [fragment for entity in self.entities(spaces) for fragment in entity.fragments]

    def facts(self, spaces: Iterable[Namespace]) -> list[Fact]:
        among = list(spaces)
        return [fact for fact in self.world.facts if fact.subject.space in among and self.sees(fact)]

    def named(self, names: list[str] | None) -> list[Namespace]:
        """The namespaces asked for, in their order; all of them must be readable."""
        if names is None:
            return self.spaces
        known = {space.name: space for space in self.spaces}
        return [known[name] for name in dict.fromkeys(names)]

    def entity(self, namespace: str, key: str) -> Entity | None:
        (space,) = self.named([namespace])
        return next((entity for entity in self.entities([space]) if entity.key == key), None)

    def node(self, id: str) -> Any:
        letter, ns, number = base64.urlsafe_b64decode(id + "=" * (-len(id) % 4)).decode().split(":")
        for entity in self.entities(self.spaces):
            if entity.space.ns == int(ns):
                found = {"e": entity, "s": entity.source}.get(letter) if entity.id == int(number) else None
                if letter == "f":
                    found = next((fragment for fragment in entity.fragments if fragment.id == int(number)), None)
                if found is not None:
                    return found
        return None


def public_id(letter: str, space: Namespace, number: int) -> str:
    return base64.urlsafe_b64encode(f"{letter}:{space.ns}:{number}".encode()).decode().rstrip("=")


def words_of(text: str) -> list[str]:
    return re.findall("[a-z]+", text.lower())


def halved(vector: np.ndarray) -> np.ndarray:
    return vector.astype(np.float16).astype(np.float64)


class Run:
    """One question, answered by looking at everything."""

    def __init__(
        self, view: View, question: str, namespaces: list[str] | None = None, k: int = 8, hops: int = 1,
        filter: dict[str, Any] | None = None, entityFilter: dict[str, Any] | None = None, channels: list[str] | None = None,
        fusion: dict[str, Any] | None = None, asOf: str | None = None, locale: str = "AUTO",
    ) -> None:  # fmt: skip
        self.view, self.question, self.k, self.hops = view, question, k, hops
        self.spaces = view.named(namespaces)
        self.pool = min(400, max(20, k * max(2, len(set(namespaces or ())))))
        self.channels = ["VECTOR", "LEXICAL", "GRAPH", "SQL"] if channels is None else channels
        self.weights = {one["channel"]: one["weight"] for one in (fusion or {}).get("weights") or []}
        self.at = datetime.fromisoformat(asOf) if asOf else datetime.now(UTC)
        self.language = locale
        self.entity_filter = entityFilter
        visible = view.fragments(self.spaces)
        self.candidates = [fragment for fragment in visible if Filter(**(filter or {})).admits(fragment)]
        self.common = [fragment for fragment in visible if not fragment.entity.acl]
        self.is_close = False
        """True when two items are so near each other that rounding decides their order."""

    def ranked(self, scored: list[tuple[tuple[float, ...], Fragment]]) -> list[tuple[float, Fragment]]:
        scored.sort(key=lambda pair: (*(-part for part in pair[0]), pair[1].entity.space.ns, pair[1].id))
        for (one, _), (other, _) in pairwise(scored):
            self.is_close |= one != other and one[:-1] == other[:-1] and abs(one[-1] - other[-1]) < 3e-6
        return [(score[-1], fragment) for score, fragment in scored[: self.pool]]

    @cached_property
    def vector(self) -> list[tuple[float, Fragment]]:
        embedder = HashEmbedder()
        asked = halved(embedder.vector(self.question))
        scored = []
        for fragment in self.candidates:
            if not fragment.pending:
                held = halved(embedder.vector(fragment.whole))
                scored.append(((float(asked @ held / (np.linalg.norm(asked) * np.linalg.norm(held))),), fragment))
        return self.ranked(scored)

    @cached_property
    def lexical(self) -> list[tuple[float, Fragment]]:
        held = {fragment: words_of(fragment.whole) for fragment in self.common}
        mean = sum(map(len, held.values())) / len(held) if held else 100.0
        weights = {}
        for word in set(words_of(self.question)):
            count = sum(word in words for words in held.values())
            weights[word] = (count, math.log(1 + (len(held) - count + 0.5) / (count + 0.5)))
        scored = []
        for fragment in self.candidates:
            words, score = words_of(fragment.whole), 0.0
            for word, (_, idf) in sorted(weights.items(), key=lambda pair: (pair[1][0], pair[0])):
                times = words.count(word)
                score += idf * times * (K1 + 1) / (times + K1 * (1 - B + B * len(words) / mean)) if times else 0.0
            exact = len(self.matched(fragment))
            if score or exact:
                scored.append(((exact, score), fragment))
        return self.ranked(scored)

    def matched(self, fragment: Fragment) -> list[str]:
        return [one for one in dict.fromkeys(re.findall(r"[a-z]+\.yaml", self.question)) if one in fragment.identifiers]

    @cached_property
    def fused(self) -> list[Hit]:
        found: dict[Fragment, list[Signal]] = {}
        lists = {"VECTOR": lambda: self.vector, "LEXICAL": lambda: self.lexical}
        for channel in ("VECTOR", "LEXICAL"):
            if channel in self.channels:
                for rank, (raw, fragment) in enumerate(lists[channel]()):
                    weight = self.weights.get(channel, 1.0)
                    signal = Signal(channel, rank, raw, weight, weight / (RANK_CONSTANT + rank + 1))
                    found.setdefault(fragment, []).append(signal)
        hits = []
        for fragment, signals in found.items():
            score = 0.0
            for signal in signals:
                score += signal.contribution
            hits.append(Hit(fragment, score, signals, self))
        return sorted(hits, key=lambda hit: (-hit.score, hit.fragment.entity.space.ns, hit.fragment.id))[: self.k]

    def own(self, channel: str) -> list[Hit]:
        ranking = self.vector if channel == "VECTOR" else self.lexical
        listed = enumerate(ranking[: self.k])
        return [Hit(fragment, raw, [Signal(channel, rank, raw, 1.0, raw)], self) for rank, (raw, fragment) in listed]

    def holds(self, fact: Fact) -> bool:
        began = fact.valid_from is None or fact.valid_from <= self.at
        return fact.retracted is None and began and (fact.valid_to is None or fact.valid_to > self.at)

    @cached_property
    def neighbours(self) -> list[Neighbour]:
        start = list(dict.fromkeys(hit.fragment.entity for hit in self.fused))
        facts = [fact for fact in self.view.facts(self.spaces) if fact.object is not None and self.holds(fact)]
        seen, front, found = set(start), set(start), list[Neighbour]()
        for hop in range(1, self.hops + 1):
            reached: dict[Entity, set[Fact]] = {}
            for fact in facts:
                for near, far in ((fact.subject, fact.object), (fact.object, fact.subject)):
                    if near in front and far not in seen:
                        reached.setdefault(far, set()).add(fact)
            found += [Neighbour(far, hop, sorted(via, key=lambda fact: fact.row)) for far, via in reached.items()]
            front = set(reached)
            seen |= front
        return sorted(found, key=lambda one: (one.hops, -len(one.via), one.entity.space.ns, one.entity.id))

    @property
    def sources(self) -> list[Entity]:
        listed = [*(hit.fragment.entity for hit in self.fused), *(one.entity for one in self.neighbours)]
        return list(dict.fromkeys(listed))

    @property
    def context(self) -> str:
        russian = self.language == "RU"
        parts = []
        if self.fused:
            texts = []
            for hit in self.fused:
                entity, heading = hit.fragment.entity, hit.fragment.heading
                lines = [f"## [{entity.key}] {entity.title}" + (f" — {heading}" if heading else "")]
                lines += [f"{'Источник' if russian else 'Source'}: {entity.path}"] if entity.path else []
                texts.append("\n".join(lines) + "\n\n" + hit.fragment.text)
            parts.append("\n\n".join(["# Найденные фрагменты" if russian else "# Fragments found", *texts]))
        if self.neighbours:
            lines = ["# Связанные сущности (граф, соседи)" if russian else "# Related entities (graph, neighbours)"]
            for one in self.neighbours:
                entity = one.entity
                line = f"- [{entity.key}] ({entity.type}) {entity.title}"
                line += f" status={entity.status}" if entity.status else ""
                lines.append(line + (f" — {entity.path}" if entity.path else ""))
            parts.append("\n".join(lines))
        return "\n\n".join(parts)


def highlights(hit: Hit) -> list[tuple[str, int, int]]:
    """Where words of the question stand in a hit."""
    asked = set(words_of(hit.run.question))
    fields = {"TITLE": hit.fragment.title, "HEADING": hit.fragment.heading, "TEXT": hit.fragment.text}
    return [
        (name, found.start(), found.end())
        for name, text in fields.items()
        for found in re.finditer("[a-z]+", text.lower())
        if found[0] in asked
    ]


def origin(source: Source) -> Step:
    label = source.uri or source.connector or source.media_type
    digest = hashlib.sha256(source.content.encode()).hexdigest()
    space, key = source.entity.space, source.entity.key
    return Step("ORIGIN", label, space, key, source.fetched, source.author or source.connector, source.uri, digest, source)


def chain_of_entity(entity: Entity) -> list[Step]:
    kind = "ENTITY" if entity.kind == "THING" else entity.kind
    step = Step(kind, entity.title, entity.space, entity.key, entity.occurred or entity.updated, node=entity)
    return [step, *([origin(entity.source)] if entity.source else [])]


def chain_of_fragment(fragment: Fragment) -> list[Step]:
    entity = fragment.entity
    label = " — ".join(part for part in (entity.title, fragment.heading) if part)
    return [Step("FRAGMENT", label, entity.space, entity.key, entity.updated, node=fragment), *chain_of_entity(entity)]


def chain_of_fact(view: View, fact: Fact) -> list[Step]:
    places = sorted((place for place in fact.places if view.sees(place)), key=lambda place: place.id)
    step = Step("FACT", fact.predicate, fact.subject.space, at=fact.recorded)
    return [step, *(step for place in places for step in chain_of_entity(place))]
