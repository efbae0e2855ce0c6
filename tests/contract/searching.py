"""Computes in plain Python what a search must give; shares neither code nor SQL with the product."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np

from tests.contract.oracle import View
from tests.contract.walks import Neighbour, around
from tests.fixtures.company import CLOCK, Entity, Fact, Fragment, World
from tests.fixtures.embedders import HashEmbedder
from tests.fixtures.judges import by_hash
from tests.fixtures.personal_numbers import SPELLED, Number

RANK_CONSTANT, K1, B = 60, 1.2, 0.75  # as in `tests.fixtures.world.tuned`, whatever a deployment weighs by
NEIGHBOURS = 40
POOL, FOUND, CHARACTERS = 24, 12, 600


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
    channel: str | None
    rank: int | None
    raw: float | None
    weight: float | None
    contribution: float
    kind: str = "RANK"


@dataclass(frozen=True, eq=False)
class Hit:
    fragment: Fragment | None
    score: float
    signals: list[Signal]
    run: Run
    of: Entity | None = None
    """Of a hit that a rerank judged by its title: the entity, which has no fragment."""
    verdict: float | None = None

    @property
    def entity(self) -> Entity:
        if self.fragment is not None:
            return self.fragment.entity
        assert self.of is not None
        return self.of


@cache
def words_of(text: str) -> list[str]:
    return re.findall("[a-z]+", text.lower())


@cache
def counted(text: str) -> Counter[str]:
    return Counter(words_of(text))


@cache
def direction(text: str) -> np.ndarray:
    """The vector of a text as it is stored, of length 1."""
    held = halved(HashEmbedder().vector(text))
    return np.asarray(held / np.linalg.norm(held))


def halved(vector: np.ndarray) -> np.ndarray:
    return vector.astype(np.float16).astype(np.float64)


class Run:
    """One question, answered by looking at everything."""

    def __init__(
        self, view: View, question: str, namespaces: list[str] | None = None, k: int = 8, hops: int = 1,
        filter: dict[str, Any] | None = None, entityFilter: dict[str, Any] | None = None, channels: list[str] | None = None,
        fusion: dict[str, Any] | None = None, asOf: str | None = None, locale: str = "AUTO",
        rerank: bool | None = None,
    ) -> None:  # fmt: skip
        self.is_reranked = bool(rerank)
        self.view, self.question, self.k, self.hops = view, question, k, hops
        self.spaces = view.named(namespaces)
        self.pool = min(400, max(20, k * max(2, len(set(namespaces or ())))))
        self.channels = ["VECTOR", "LEXICAL", "GRAPH", "SQL"] if channels is None else channels
        self.weights = {one["channel"]: one["weight"] for one in (fusion or {}).get("weights") or []}
        self.at = datetime.fromisoformat(asOf) if asOf else CLOCK
        self.language = locale
        self.entity_filter = entityFilter
        visible, wanted = view.fragments(self.spaces), Filter(**view.asked(self.spaces, filter))
        self.candidates = [fragment for fragment in visible if wanted.admits(fragment)]
        self.worded = SPELLED.sub(lambda found: " " if found[0] in view.world.spelled else found[0], question)
        self.numbers = set(view.world.numbers_in(question))
        self.common = [fragment for fragment in visible if not fragment.entity.acl]

    def ranked(self, scored: list[tuple[int, list[float], Fragment]]) -> list[tuple[float, Fragment]]:
        """The best of fragments with how many identifiers they match and the terms of their score.

        Scores are equal when their terms are. Where others are as good as equal, rounding decides.
        """
        listed = [(exact, sum(terms, 0.0), terms, fragment) for exact, terms, fragment in scored]
        listed.sort(key=lambda one: (-one[0], -one[1], one[3].entity.space.ns, one[3].id))
        for one, other in pairwise(listed[: self.pool + 1]):
            self.view.is_close |= one[0] == other[0] and one[2] != other[2] and abs(one[1] - other[1]) < 3e-6
        return [(score, fragment) for _, score, _, fragment in listed[: self.pool]]

    @cached_property
    def vector(self) -> list[tuple[float, Fragment]]:
        masked = self.view.world.masked
        asked, held = direction(masked(self.question)), [fragment for fragment in self.candidates if not fragment.pending]
        # A sum for each row by itself: equal texts must come out equal wherever they stand.
        scores = (np.array([direction(masked(fragment.whole)) for fragment in held]).reshape(-1, len(asked)) * asked).sum(axis=1)
        return self.ranked([(0, [score], fragment) for score, fragment in zip(scores.tolist(), held, strict=True)])

    @cached_property
    def lexical(self) -> list[tuple[float, Fragment]]:
        masked = self.view.world.masked
        held = [counted(masked(fragment.worded)) for fragment in self.common]
        mean = sum(words.total() for words in held) / len(held) if held else 100.0
        weights = {}
        for word in set(words_of(self.worded)):
            count = sum(word in words for words in held)
            weights[word] = (count, math.log(1 + (len(held) - count + 0.5) / (count + 0.5)))
        rarest = sorted(weights.items(), key=lambda pair: (pair[1][0], pair[0]))
        scored = []
        for fragment in self.candidates:
            words = counted(masked(fragment.worded))
            norm = K1 * (1 - B + B * words.total() / mean)
            terms = [idf * times * (K1 + 1) / (times + norm) for word, (_, idf) in rarest if (times := words[word])]
            exact = len(self.matched(fragment)) + len(self.found(fragment))
            if terms or exact:
                scored.append((exact, terms, fragment))
        return self.ranked(scored)

    def matched(self, fragment: Fragment) -> list[str]:
        return [one for one in self.identifiers if one in fragment.identifiers]

    def found(self, fragment: Fragment) -> set[Number]:
        """The numbers of the question that a fragment holds, where the caller may read them."""
        if not self.numbers or not self.view.shows(fragment.entity.space):
            return set()
        held = self.view.world.numbers_in([fragment.title, fragment.heading, fragment.text])
        return self.numbers & set(held)

    @cached_property
    def identifiers(self) -> list[str]:
        return list(dict.fromkeys(re.findall(r"[a-z]+\.yaml", self.worded)))

    @property
    def fused(self) -> list[Hit]:
        return self.all_fused[: self.k]

    @cached_property
    def all_fused(self) -> list[Hit]:
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
        return sorted(hits, key=lambda hit: (-hit.score, hit.fragment.entity.space.ns, hit.fragment.id))

    @cached_property
    def hits(self) -> list[Hit]:
        """The hits as they are answered: of a rerank first those that were judged, by what the judge of tests made of them."""
        if not self.is_reranked:
            return self.fused
        pool: dict[Entity, Hit] = {}
        for hit in self.all_fused[:FOUND]:
            pool.setdefault(hit.fragment.entity, hit)
        for neighbour in self.neighbours:
            entity = neighbour.entity
            best = next((hit.fragment for hit in self.all_fused[FOUND:] if hit.fragment.entity is entity), None)
            speaker = best or min(entity.fragments, key=lambda one: one.ordinal, default=None)
            if speaker is not None or entity.title.strip():
                pool.setdefault(entity, Hit(speaker, 0.0, [], self, entity))
        judged = [
            replace(hit, verdict=mark, signals=[*hit.signals, Signal(None, None, mark, None, 0.0, "RERANK")])
            for hit in list(pool.values())[: max(POOL, self.k)]
            for mark in [by_hash(judged_text(hit, self.view.world)) / 100]
        ]
        taken = {hit.fragment for hit in judged}
        listed = sorted(judged, key=lambda hit: -hit.verdict) + [hit for hit in self.all_fused if hit.fragment not in taken]
        return listed[: self.k]

    def own(self, channel: str) -> list[Hit]:
        ranking = self.vector if channel == "VECTOR" else self.lexical
        listed = enumerate(ranking[: self.k])
        return [Hit(fragment, raw, [Signal(channel, rank, raw, 1.0, raw)], self) for rank, (raw, fragment) in listed]

    def holds(self, fact: Fact) -> bool:
        began = fact.valid_from is None or fact.valid_from <= self.at
        return fact.retracted is None and began and (fact.valid_to is None or fact.valid_to > self.at)

    @cached_property
    def neighbours(self) -> list[Neighbour]:
        facts = [fact for fact in self.view.facts(self.spaces) if fact.object is not None and self.holds(fact)]
        return around({hit.fragment.entity for hit in self.fused}, facts, self.hops, "BOTH", NEIGHBOURS).entities

    @property
    def sources(self) -> list[Entity]:
        listed = [*(hit.entity for hit in self.hits), *(one.entity for one in self.neighbours)]
        return list(dict.fromkeys(listed))

    @property
    def context(self) -> str:
        russian = self.language == "RU"
        parts = []
        if shown := [hit for hit in self.hits if hit.fragment is not None]:
            texts = []
            for hit in shown:
                entity, heading = hit.fragment.entity, hit.fragment.heading
                said = partial(self.view.text, entity.space)
                lines = [f"## [{entity.key}] {said(entity.title)}" + (f" — {said(heading)}" if heading else "")]
                lines += [f"{'Источник' if russian else 'Source'}: {said(entity.path)}"] if entity.path else []
                texts.append("\n".join(lines) + "\n\n" + said(hit.fragment.text))
            parts.append("\n\n".join(["# Найденные фрагменты" if russian else "# Fragments found", *texts]))
        if self.neighbours:
            lines = ["# Связанные сущности (граф, соседи)" if russian else "# Related entities (graph, neighbours)"]
            for one in self.neighbours:
                entity = one.entity
                said = partial(self.view.text, entity.space)
                line = f"- [{entity.key}] ({entity.type}) {said(entity.title)}"
                line += f" status={said(entity.status)}" if entity.status else ""
                lines.append(line + (f" — {said(entity.path)}" if entity.path else ""))
            parts.append("\n".join(lines))
        return "\n\n".join(parts)


def judged_text(hit: Hit, world: World) -> str:
    """What a judge is shown of a candidate, whoever asks; nothing in a world needs neutralising."""
    one, masked = hit.fragment, world.masked
    if one is None:
        return " ".join(masked(hit.entity.title).split())[:CHARACTERS]
    head = f"{masked(one.title)} — {masked(one.heading)}" if one.heading else masked(one.title)
    return (head + "\n" + masked(one.text))[:CHARACTERS]


def highlights(hit: Hit) -> list[tuple[str, int, int]]:
    """Where words of the question stand in a hit."""
    if hit.fragment is None:
        return []
    asked, said = set(words_of(hit.run.worded)), partial(hit.run.view.text, hit.entity.space)
    fields = {"TITLE": said(hit.fragment.title), "HEADING": said(hit.fragment.heading), "TEXT": said(hit.fragment.text)}
    return [
        (name, found.start(), found.end())
        for name, text in fields.items()
        for found in re.finditer("[a-z]+", text.lower())
        if found[0] in asked
    ]
