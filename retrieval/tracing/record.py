"""A trace as a plain value: ids, ranks, scores and times of one run, no text of anything stored; it goes to JSON and back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from retrieval.compilation.item import Item, ItemKind
from retrieval.keys import key_digest
from retrieval.prompt import Language
from retrieval.ranking import Channel, Signal

LONG_KEY = 4
"""A key of so many letters is looked for within words too."""


class Outcome(StrEnum):
    """What became of an item, the best first."""

    INCLUDED = "INCLUDED"
    OVER_BUDGET = "OVER_BUDGET"
    DUPLICATE = "DUPLICATE"
    OUTRANKED = "OUTRANKED"
    NOT_A_CANDIDATE = "NOT_A_CANDIDATE"
    NOT_FOUND = "NOT_FOUND"


class Operation(StrEnum):
    """The field that was asked."""

    SEARCH = "search"
    CONTEXT_PACK = "contextPack"
    TYPED_CONTEXT = "typedContext"


@dataclass(frozen=True, slots=True)
class StageTrace:
    """A stage: when it started, in milliseconds after the first one, how long it took, and the code of what broke it."""

    name: str
    needs: tuple[str, ...]
    started_ms: float
    milliseconds: float
    count: int | None = None
    note: str | None = None


class Place(NamedTuple):
    """An item in the list of a channel: its rank from 0, and the entity that it belongs to (of a fact: its subject)."""

    item: Item
    entity_id: int
    rank: int


@dataclass(frozen=True, slots=True)
class ChannelTrace:
    """What a channel found, best first, out of how many that were asked for."""

    channel: Channel
    weight: float
    asked: int
    exact: bool | None
    milliseconds: float
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class CandidateTrace:
    """An item that was scored, and what became of it; `tokens` is its price, None where nothing has one."""

    item: Item
    entity_id: int
    score: float
    signals: tuple[Signal, ...]
    outcome: Outcome
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class BudgetTrace:
    """The budget of a pack; `current` is the price of the caller's own state, `dropped` in the order of dropping."""

    max_tokens: int
    current: int | None
    is_cut: bool
    dropped: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """One run. `request` has the arguments, without the ephemeral context, of which only the size in bytes is kept."""

    trace_id: str
    principal_id: int | None
    """None for the local administrator, 0 for a subject that no principal stood for."""
    made_by: str
    namespaces: tuple[int, ...]
    created_at: datetime
    operation: Operation
    language: Language
    k: int | None
    request: Mapping[str, Any]
    ephemeral_size: int = 0
    channels: tuple[ChannelTrace, ...] = ()
    stages: tuple[StageTrace, ...] = ()
    candidates: tuple[CandidateTrace, ...] = ()
    budget: BudgetTrace | None = None
    issuer: str | None = None
    """Who vouched for a subject that no principal stood for."""

    @property
    def strategy(self) -> str | None:
        """The strategy of a pack."""
        return self.request.get("strategy")

    @property
    def items(self) -> dict[Item, int]:
        """Every item that it names, with the entity that it belongs to."""
        ranked = ((place.item, place.entity_id) for channel in self.channels for place in channel.places)
        return {one.item: one.entity_id for one in self.candidates} | dict(ranked)

    def marks(self) -> list[str]:
        """What it is found by when something is erased: entities, facts, digests of keys that were given."""
        entities, facts = set[str](), set[str]()
        for item, entity_id in self.items.items():
            entities.add(f"e{entity_id}")
            if item.kind is ItemKind.FACT:
                facts.add(f"a{item.id}")
        return sorted(entities | facts | {mark_of_key(key) for key in given_keys(self.request)})

    def without(self, gone: Container[Item]) -> TraceRecord:
        """The same as if some items had never been in it; the ranks of the others stay what they were."""
        channels = tuple(
            replace(one, places=tuple(place for place in one.places if place.item not in gone)) for one in self.channels
        )
        budget = self.budget
        if budget is not None:
            budget = replace(budget, dropped=tuple(item for item in budget.dropped if item not in gone))
        candidates = tuple(one for one in self.candidates if one.item not in gone)
        return replace(self, channels=channels, candidates=candidates, budget=budget)

    def without_keys(self, namespace: str, keys: Sequence[str]) -> TraceRecord:
        """The same without keys of a namespace in what was asked, which says then that something was taken out of it."""
        digests, request = {key_digest(key) for key in keys}, dict(self.request)
        is_named = any(holds_key(request.get("question", ""), key) for key in keys)

        def kept(keys: Iterable[str]) -> list[str]:
            return [key for key in keys if key_digest(key) not in digests]

        def stays(anchor: Mapping[str, Any]) -> bool:
            """An anchor of a walk may be a text that holds the key, that of a pack is the key of another entity then."""
            is_text = "kind" in anchor and any(holds_key(anchor["key"], key) for key in keys)
            return anchor["namespace"] not in (None, namespace) or bool(kept([anchor["key"]]) and not is_text)

        anchors = [one for one in request.get("anchors", ()) if stays(one)]
        is_given = any(key_digest(key) in digests for key in given_keys(request))
        if not (is_named or is_given or len(anchors) < len(request.get("anchors", ()))):
            return self
        request["anchors"] = anchors
        for name in ("relevanceScopes", "allowedScopes"):
            if request.get(name) is not None:
                request[name] = kept(request[name])
        if request.get("subject") is not None and not kept([request["subject"]]):
            request["subject"] = None
        if is_named:
            request["question"] = ""
        return replace(self, request=request | {"erased": True})


def holds_key(text: str, key: str) -> bool:
    """Whether a text names a key; a short one as a word of its own, since its letters are in every text.

    >>> holds_key("What of people/anna?", "people/ann"), holds_key("What of Anna?", "ann"), holds_key("and of ann?", "ann")
    (True, False, True)
    """
    text, key = unicodedata.normalize("NFC", text), unicodedata.normalize("NFC", key)
    if len(key) >= LONG_KEY:
        return key in text
    return re.search(rf"(?<!\w){re.escape(key)}(?!\w)", text) is not None


def mark_of_key(key: str) -> str:
    """What a trace is found by to which a key was given."""
    return f"k{key_digest(key).hex()}"


def given_keys(request: Mapping[str, Any]) -> list[str]:
    """The keys among the arguments: anchors, the subject, and scopes, which have the same form."""
    anchors = [one["key"] for one in request.get("anchors", ())]
    scopes = [*request.get("relevanceScopes", ()), *(request.get("allowedScopes") or ())]
    return [key for key in (*anchors, request.get("subject"), *scopes) if key is not None]
