"""Compiles a traced pack again with what was asked then and as of then, and compares what became of each item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from retrieval.compilation.choosing import ORDER
from retrieval.compilation.compilation import Compilation
from retrieval.compilation.item import Item
from retrieval.errors import BadInput
from retrieval.ranking import Signal
from retrieval.session import Session
from retrieval.tracing.building import trace_of_pack
from retrieval.tracing.reading import ShownTrace, visible_items
from retrieval.tracing.record import Operation, Outcome, TraceRecord
from retrieval.tracing.requests import pack_of
from retrieval.tracing.why import decision_on


class Change(StrEnum):
    """What is different about an item, what matters most first."""

    GONE = "GONE"
    ENTERED = "ENTERED"
    LEFT = "LEFT"
    DECIDED = "DECIDED"
    MOVED = "MOVED"
    SCORED = "SCORED"
    SAME = "SAME"


@dataclass(frozen=True, slots=True)
class TermChange:
    """A term of a score that is another now; None where there was, or is, no such term."""

    name: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class State:
    """What became of an item in one of the two; its place counts the items of the pack, from 1."""

    outcome: Outcome
    place: int | None
    score: float | None


@dataclass(frozen=True, slots=True)
class Replayed:
    """An item then and now; `title` is None for one that is gone."""

    item: Item
    title: str | None
    change: Change
    before: State
    after: State
    terms: tuple[TermChange, ...]


@dataclass(frozen=True, slots=True)
class Replay:
    """A pack then and now, the items in the order in which they were tried, then the new ones."""

    before: TraceRecord
    after: TraceRecord
    items: tuple[Replayed, ...]

    @property
    def same(self) -> bool:
        """Whether every item is what it was."""
        return all(one.change is Change.SAME for one in self.items)


async def replay(trace: ShownTrace, session: Session) -> Replay:
    """Compile the pack of a trace again, in a session whose clock is the trace's. Raises `BadInput` for what is no pack.

    The ephemeral context is not kept: what it cost is taken off the budget, so that as much is left for the rest.
    """
    before = trace.record
    if before.operation is not Operation.CONTEXT_PACK or before.budget is None:
        raise BadInput(f"Only packs are compiled again, and this is the trace of a {before.operation.value}.")
    reserved = before.budget.current or 0
    asked = pack_of(before.request)
    asked = replace(asked, max_tokens=asked.max_tokens - reserved, known_at=asked.known_at or before.created_at)
    spaces = [space for space in (await session.caller).spaces if space.ns in before.namespaces]
    after = await trace_of_pack(Compilation(session, asked, spaces))
    seen = await visible_items(session, before.items.keys() | after.items.keys())
    titles = await ShownTrace(session, after).titles(one.item for one in after.candidates)
    titles |= await trace.titles(one.item for one in before.candidates if one.item not in titles)
    return Replay(before, after, tuple(compared(before, after, seen, titles)))


def compared(
    before: TraceRecord, after: TraceRecord, seen: Mapping[Item, object], titles: Mapping[Item, str]
) -> Iterator[Replayed]:
    """Every item that was, or is, a candidate."""
    then, now = signals_of(before), signals_of(after)
    places = [places_of(record) for record in (before, after)]
    for item in dict.fromkeys([*then, *now]):
        was = state_of(before, item, places[0])
        will = state_of(after, item, places[1]) if item in seen else State(Outcome.NOT_FOUND, None, None)
        terms = tuple(term_changes(then.get(item, ()), now.get(item, ())))
        yield Replayed(item, titles.get(item), change_of(was, will), was, will, terms)


def change_of(before: State, after: State) -> Change:
    """What is different, what matters most."""
    if after.outcome is Outcome.NOT_FOUND:
        return Change.GONE
    if before.outcome is not after.outcome:
        if after.outcome is Outcome.INCLUDED:
            return Change.ENTERED
        return Change.LEFT if before.outcome is Outcome.INCLUDED else Change.DECIDED
    if before.place != after.place:
        return Change.MOVED
    return Change.SAME if before.score == after.score else Change.SCORED


def state_of(record: TraceRecord, item: Item, places: Mapping[Item, int]) -> State:
    """What became of an item."""
    decision = decision_on(record, item)
    return State(decision.outcome, places.get(item), decision.score)


def places_of(record: TraceRecord) -> dict[Item, int]:
    """The places of the items of a pack, by score."""
    included = (one for one in record.candidates if one.outcome is Outcome.INCLUDED)
    return {one.item: place for place, one in enumerate(included, 1)}


def signals_of(record: TraceRecord) -> dict[Item, tuple[Signal, ...]]:
    """The terms of every candidate, in the order in which they were tried."""
    listed = sorted(record.candidates, key=lambda one: (-one.score, ORDER[one.item.kind], one.item.ns, one.item.id))
    return {one.item: one.signals for one in listed}


def term_changes(before: Iterable[Signal], after: Iterable[Signal]) -> Iterator[TermChange]:
    """The terms that differ."""
    then, now = ({name_of(one): one.contribution for one in signals} for signals in (before, after))
    for name in dict.fromkeys([*then, *now]):
        if then.get(name) != now.get(name):
            yield TermChange(name, then.get(name), now.get(name))


def name_of(signal: Signal) -> str:
    """A term by its channel, or by what it stands for."""
    return signal.kind.value if signal.channel is None else signal.channel.value
