"""What a replay says of an item that was in one of two packs or in both."""

from __future__ import annotations

from dataclasses import replace

from retrieval.compilation.item import Item, ItemKind
from retrieval.ranking import Channel, Signal, SignalKind
from retrieval.tracing.record import BudgetTrace, CandidateTrace, ChannelTrace, Outcome, Place, TraceRecord
from retrieval.tracing.replaying import Change, Replay, TermChange, compared
from tests.retrieval.tracing.test_record import RECORD

A, B, C, D, E, F = (Item(ItemKind.FRAGMENT, 1, number) for number in range(1, 7))


def ranked(item: Item, score: float, outcome: Outcome = Outcome.INCLUDED, channel: Channel = Channel.LEXICAL) -> CandidateTrace:
    signal = Signal(SignalKind.RANK, channel, 0, 1.0, 1.0, score)
    return CandidateTrace(item, 9, score, (signal,), outcome, 5)


def pack(*candidates: CandidateTrace) -> TraceRecord:
    places = tuple(Place(one.item, 9, rank) for rank, one in enumerate(candidates))
    channel = ChannelTrace(Channel.LEXICAL, 1.0, 20, None, 0.0, places)
    return replace(RECORD, channels=(channel,), candidates=candidates, budget=BudgetTrace(100, None, False, ()))


def test_each_item_has_the_change_that_matters_most() -> None:
    before = pack(ranked(A, 0.9), ranked(B, 0.8), ranked(C, 0.7), ranked(D, 0.6), ranked(E, 0.5, Outcome.OVER_BUDGET))
    after = pack(
        ranked(A, 0.95), ranked(C, 0.7), ranked(F, 0.65), ranked(D, 0.6, Outcome.OVER_BUDGET), ranked(E, 0.5, Outcome.DUPLICATE)
    )
    found = {one.item: one for one in compared(before, after, dict.fromkeys((A, C, D, E, F)), {A: "a"})}
    assert {item: one.change for item, one in found.items()} == {
        A: Change.SCORED, B: Change.GONE, C: Change.MOVED, D: Change.LEFT, E: Change.DECIDED, F: Change.ENTERED,
    }  # fmt: skip
    assert found[A].terms == (TermChange("LEXICAL", 0.9, 0.95),)
    assert (found[A].title, found[B].title) == ("a", None)
    assert (found[C].before.place, found[C].after.place) == (3, 2)
    assert found[D].after.outcome is Outcome.OVER_BUDGET
    assert found[B].after.outcome is Outcome.NOT_FOUND
    assert found[F].before.outcome is Outcome.NOT_A_CANDIDATE


def test_a_term_that_was_not_there_is_a_change_too() -> None:
    before, after = pack(ranked(A, 0.5)), pack(ranked(A, 0.5, channel=Channel.VECTOR))
    (one,) = compared(before, after, {A: None}, {})
    assert one.terms == (TermChange("LEXICAL", 0.5, None), TermChange("VECTOR", None, 0.5))


def test_equal_packs_are_the_same() -> None:
    both = pack(ranked(A, 0.9), ranked(B, 0.8, Outcome.OVER_BUDGET))
    items = tuple(compared(both, both, dict.fromkeys((A, B)), {}))
    assert Replay(both, both, items).same
    assert not Replay(both, both, tuple(compared(both, pack(ranked(A, 0.9)), dict.fromkeys((A, B)), {}))).same
