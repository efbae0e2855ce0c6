"""There is a sentence for every outcome of every operation, in both languages, with both ranks where it was outranked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.compilation.item import Item, ItemKind
from retrieval.ranking import Channel, Signal, SignalKind
from retrieval.tracing.record import BudgetTrace, CandidateTrace, ChannelTrace, Operation, Outcome, Place, TraceRecord
from retrieval.tracing.why import best_decision, decision_on, nothing_found
from tests.retrieval.tracing.test_record import RECORD

ITEMS = [Item(ItemKind.FRAGMENT, 1, number) for number in range(6)]
ELSEWHERE = Item(ItemKind.ENTITY, 1, 77)


def pack() -> TraceRecord:
    """Two admitted items, of which one is in; two that were found below; one that was not found."""
    ranked = tuple(Place(item, 50, rank) for rank, item in enumerate(ITEMS[:4]))
    candidates = (
        CandidateTrace(ITEMS[0], 50, 0.5, (), Outcome.INCLUDED, 10),
        CandidateTrace(ITEMS[1], 50, 0.25, (), Outcome.OVER_BUDGET, 90),
    )
    channels = (ChannelTrace(Channel.LEXICAL, 1.0, 20, None, 1.0, ranked), ChannelTrace(Channel.VECTOR, 1.0, 20, True, 1.0, ()))
    return replace(RECORD, k=2, language="en", channels=channels, candidates=candidates, budget=BudgetTrace(95, None, False, ()))


def test_an_item_that_was_found_below_tells_both_ranks() -> None:
    found = decision_on(pack(), ITEMS[3])
    assert found.outcome is Outcome.OUTRANKED
    assert (found.score, found.signals) == (None, ())
    assert [(one.channel, one.rank, one.worst_admitted_rank) for one in found.channels] == [
        (Channel.LEXICAL, 3, 1), (Channel.VECTOR, None, None),
    ]  # fmt: skip
    assert found.explanation == (
        "It was found below the last admitted rank: LEXICAL ranked it 3 and admitted up to 1 (ranks count from 0)."
    )


def test_an_item_that_nothing_found_tells_the_last_admitted_ranks() -> None:
    found = decision_on(pack(), ITEMS[5])
    assert found.outcome is Outcome.NOT_A_CANDIDATE
    assert "LEXICAL 1, VECTOR none" in found.explanation


def test_what_did_not_fit_tells_its_price_and_the_budget() -> None:
    found = decision_on(pack(), ITEMS[1])
    assert (found.outcome, found.score) == (Outcome.OVER_BUDGET, 0.25)
    assert found.explanation == (
        "It did not fit: when its turn came (score 0.2500), fewer of the 95 tokens were left than it takes (90), alone or with "
        "what must enter with it."
    )


def test_of_several_items_the_best_is_told() -> None:
    assert best_decision(pack(), [ELSEWHERE, ITEMS[3], ITEMS[1], ITEMS[0]]).outcome is Outcome.INCLUDED
    assert best_decision(pack(), [ELSEWHERE, ITEMS[3], ITEMS[2]]).channels[0].rank == 2, "the nearer rank"
    assert best_decision(pack(), [ELSEWHERE]).outcome is Outcome.NOT_A_CANDIDATE
    assert best_decision(pack(), []) == nothing_found("en")


def test_a_search_tells_ranks_among_what_is_in_the_answer() -> None:
    def ranked(number: int, outcome: Outcome) -> CandidateTrace:
        signal = Signal(SignalKind.RANK, Channel.VECTOR, number, 0.5, 1.0, 0.1)
        return CandidateTrace(ITEMS[number], 50, 0.1, (signal,), outcome)

    outcomes = [Outcome.INCLUDED, Outcome.INCLUDED, Outcome.OUTRANKED]
    record = replace(
        pack(), operation=Operation.SEARCH, budget=None, candidates=tuple(ranked(*one) for one in enumerate(outcomes)),
        channels=(replace(pack().channels[1]), replace(pack().channels[0], channel=Channel.GRAPH)),
    )  # fmt: skip
    found = decision_on(record, ITEMS[2])
    assert (found.outcome, found.score) == (Outcome.OUTRANKED, 0.1)
    assert [(one.channel, one.rank, one.worst_admitted_rank) for one in found.channels] == [
        (Channel.VECTOR, 2, 1), (Channel.GRAPH, None, None),
    ]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize("operation", list(Operation))
def test_there_is_a_sentence_for_every_outcome(operation: Operation, language: str) -> None:
    possible = {
        Operation.CONTEXT_PACK: set(Outcome) - {Outcome.NOT_FOUND},
        Operation.SEARCH: {Outcome.INCLUDED, Outcome.OUTRANKED},
        Operation.TYPED_CONTEXT: {Outcome.INCLUDED},
    }[operation]
    for outcome in possible - {Outcome.NOT_A_CANDIDATE, Outcome.OUTRANKED}:
        candidate = CandidateTrace(ITEMS[0], 50, 0.5, (), outcome, 10)
        record = replace(pack(), operation=operation, language=language, candidates=(candidate,))
        found = decision_on(record, ITEMS[0])
        assert found.outcome is outcome
        assert found.explanation
        assert "{" not in found.explanation
    record = replace(pack(), operation=operation, language=language, candidates=())
    said = decision_on(record, ELSEWHERE).explanation
    assert any("а" <= letter <= "я" for letter in said) == (language == "ru")
