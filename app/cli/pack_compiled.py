"""A compiled pack as the command line shows it: what is in it, in words, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from app.cli.output import printable
from app.cli.trace_output import plain_signals
from retrieval.compilation.choosing import Dropped
from retrieval.compilation.item import ItemKind
from retrieval.compilation.pack import Budget, PackItem, Section, SectionKind
from retrieval.compilation.question import PackQuestion
from retrieval.compilation.rendering import HEADINGS
from retrieval.prompt import Language
from retrieval.ranking import Channel, Signal, SignalKind
from retrieval.records import Entity
from retrieval.text_lists import Degradation

WORDS: dict[Language, dict[str, str]] = {
    "ru": {
        "pack": "Контекст", "empty": "Ничего не вошло.", "tokens": "токенов", "of": "из", "free": "свободно", "score": "оценка",
        "rank": "место", "distance": "расстояние", "hours": "ч", "dropped": "Не вошло", "conflict": "противоречие",
        "conflicts": "Факты противоречат друг другу", "neutralized": "обезврежено", "state": "состояние того, кто спросил",
        "OVER_BUDGET": "не хватило места", "DUPLICATE": "повтор", "item": "что", "reason": "почему", "budget": "Бюджет",
        "legend": "Из чего складывается оценка", "text": "Текст", "prompt": "Весь текст для промпта", "everywhere": "везде",
        "asOf": "на момент", "knownAt": "как было известно", "scopes": "области", "anchors": "якоря", "trace": "Трасса",
        "untraced": "Трасса не сохранена.", "rest": "остальные", "price": "цена",
    },
    "en": {
        "pack": "Context", "empty": "Nothing got in.", "tokens": "tokens", "of": "of", "free": "free", "score": "score",
        "rank": "rank", "distance": "distance", "hours": "h", "dropped": "Dropped", "conflict": "in conflict",
        "conflicts": "These facts contradict each other", "neutralized": "neutralised", "state": "the caller's own state",
        "OVER_BUDGET": "over budget", "DUPLICATE": "duplicate", "item": "item", "reason": "reason", "budget": "Budget",
        "legend": "What scores are made of", "text": "Text", "prompt": "The whole text for a prompt", "everywhere": "everywhere",
        "asOf": "as of", "knownAt": "as known at", "scopes": "scopes", "anchors": "anchors", "trace": "Trace",
        "untraced": "No trace was stored.", "rest": "others", "price": "price",
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compiled:
    """What one pack gave."""

    question: PackQuestion
    namespaces: tuple[str, ...]
    language: Language
    sections: Sequence[Section]
    budget: Budget
    sources: Sequence[Entity]
    text: str
    text_tokens: int
    degraded: Sequence[Degradation]
    trace_id: str | None

    @property
    def words(self) -> dict[str, str]:
        """The words of its language."""
        return WORDS[self.language]

    @property
    def best_score(self) -> float:
        """The highest score of all that was tried; what bars are as long as."""
        scores = [item.score for section in self.sections for item in section.items]
        return max([*scores, *(one.score for one in self.budget.dropped)], default=0.0)

    def heading(self, kind: SectionKind) -> str:
        """The heading of a section."""
        return HEADINGS[self.language][kind].removeprefix("# ")


def together(items: Sequence[PackItem]) -> Iterator[list[PackItem]]:
    """Items one by one, and the facts of one conflict as one list."""
    for conflict, some in groupby(items, conflict_of):
        if conflict is None:
            yield from ([item] for item in some)
        else:
            yield list(some)


def conflict_of(item: PackItem) -> tuple[int, int, str] | None:
    """Whose conflict and about what a fact is in; they stand side by side in a pack."""
    return (item.fact.ns, item.fact.subject_id, item.fact.predicate) if item.conflict and item.fact is not None else None


def title_of(item: PackItem, words: dict[str, str]) -> str:
    """What an item is, on one line."""
    if item.kind is ItemKind.CURRENT:
        return words["state"]
    if item.kind is ItemKind.FACT:
        return printable(item.text)
    heading = item.fragment.heading if item.fragment is not None else ""
    return printable(f"{item.title} — {heading}" if heading else item.title)


def title_of_dropped(one: Dropped) -> str:
    """What an item that did not get in is, on one line."""
    return printable(one.title)


def key_of(item: PackItem) -> str:
    """What an item is cited by: the key of its entity, the id of a fact."""
    if item.fragment is not None:
        return printable(item.fragment.entity.key)
    return item.item_id if item.entity is None else printable(item.entity.key)


def name_of(signal: Signal) -> str:
    """A term of a score in a word: the channel, or what was added."""
    return (signal.kind.value if signal.channel is None else signal.channel.value).lower().replace("_", " ")


def detail_of(signal: Signal, words: dict[str, str]) -> str:
    """Where a term comes from: place and value of the channel, the age, the rank of the evidence."""
    raw = signal.raw_score
    if signal.rank is not None:
        return ", ".join(filter(None, (f"{words['rank']} {signal.rank + 1}", value_of(signal.channel, raw, words))))
    if raw is None:
        return ""
    return f"{raw:,.0f} {words['hours']}" if signal.kind is SignalKind.FRESHNESS else f"{raw:g} × {signal.weight:g}"


def value_of(channel: Channel | None, raw: float | None, words: dict[str, str]) -> str:
    """The value of a channel as people read it: steps away, a day, or the number itself."""
    if not raw:
        return ""
    if channel in (Channel.FACTS, Channel.GRAPH):
        return f"{words['distance']} {round(1 / raw)}"
    return f"{datetime.fromtimestamp(raw, UTC):%Y-%m-%d}" if channel is Channel.RECENT else f"{raw:.3f}"


def plain(pack: Compiled) -> dict[str, Any]:
    """The pack as JSON has it, with the names of the GraphQL fields."""
    facts = [item for section in pack.sections for item in section.items if item.conflict]
    return {
        "question": pack.question.text,
        "namespaces": pack.namespaces,
        "strategy": pack.question.strategy.value,
        "tokenEstimate": pack.budget.used_tokens,
        "budget": {
            "maxTokens": pack.budget.max_tokens, "usedTokens": pack.budget.used_tokens, "truncated": pack.budget.truncated,
            "dropped": [plain_dropped(one) for one in pack.budget.dropped],
        },
        "sections": [
            {"kind": one.kind.value, "tokenEstimate": one.token_estimate, "items": [plain_item(item) for item in one.items]}
            for one in pack.sections
        ],
        "conflicts": [item.item_id for item in facts],
        "sources": [
            {"namespace": one.namespace, "key": one.key, "title": one.title, "sourcePath": one.source_path}
            for one in pack.sources
        ],
        "text": pack.text,
        "textTokenEstimate": pack.text_tokens,
        "degraded": [{"part": one.part, "code": one.code, "message": one.message} for one in pack.degraded],
        "traceId": pack.trace_id,
    }  # fmt: skip


def plain_item(item: PackItem) -> dict[str, Any]:
    """An item as JSON."""
    return {
        "itemId": item.item_id, "kind": item.kind.value, "namespace": item.namespace, "key": key_of(item), "title": item.title,
        "sourcePath": item.source_path, "text": item.text, "score": item.score, "signals": plain_signals(item.signals),
        "tokenEstimate": item.token_estimate, "conflict": item.conflict, "neutralized": item.neutralized,
    }  # fmt: skip


def plain_dropped(one: Dropped) -> dict[str, Any]:
    """What did not get in as JSON."""
    return {
        "itemId": one.item_id, "kind": one.kind.value, "title": one.title, "score": one.score,
        "signals": plain_signals(one.candidate.signals), "tokenEstimate": one.token_estimate, "reason": one.reason.value,
    }  # fmt: skip
