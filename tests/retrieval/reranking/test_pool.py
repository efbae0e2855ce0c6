"""The pool has each entity once, and its scores order it without adding to what was found."""

from __future__ import annotations

from retrieval.ranking import SignalKind
from retrieval.reranking.pool import Pooled, placed, pool_of
from tests.fixtures.pools import entity, found, fragment


def test_an_entity_is_judged_once_by_its_best_fragment() -> None:
    listed = [found(fragment(1, "a"), 0), found(fragment(2, "b", owner=1), 1), found(fragment(3, "c"), 2)]
    around = [Pooled(entity(3), fragment(9, "z", owner=3)), Pooled(entity(4), fragment(4, "d"))]
    pool = pool_of(listed, around, 24)
    assert [(one.entity.entity_id, one.fragment and one.fragment.fragment_id) for one in pool] == [(1, 1), (3, 3), (4, 4)]


def test_a_neighbour_needs_a_text_or_a_title() -> None:
    around = [Pooled(entity(1, " \n"), None), Pooled(entity(2, "Anna"), None), Pooled(entity(3, ""), fragment(3, "text", ""))]
    assert [one.entity.entity_id for one in pool_of([], around, 24)] == [2, 3]


def test_a_pool_is_cut_at_its_end() -> None:
    listed = [found(fragment(n, "a"), n) for n in range(5)]
    around = [Pooled(entity(n, f"t{n}"), None) for n in range(10, 20)]
    assert [one.entity.entity_id for one in pool_of(listed, around, 7)] == [0, 1, 2, 3, 4, 10, 11]


def test_the_order_is_that_of_the_scores_then_of_the_pool_and_what_was_not_judged_follows_as_it_was_fused() -> None:
    listed = [found(fragment(n, "a", owner=n % 3), n) for n in range(6)]
    pool = pool_of(listed[:4], [Pooled(entity(7, "t"), None), Pooled(entity(8), fragment(8, "x"))], 24)
    fused = [one.found for one in listed if one.found is not None]
    order = placed(fused, pool, [0.2, 0.7, 0.2, 0.7, 0.0])
    assert [one.candidate.hit.item_id for one in order] == [1, 7, 0, 2, 8, 3, 4, 5]
    assert [one.score for one in order] == [0.7, 0.7, 0.2, 0.2, 0.0, None, None, None]


def test_the_score_stays_the_sum_of_the_signals_and_the_verdict_is_one_that_adds_nothing() -> None:
    one = found(fragment(1, "a"), 3)
    assert one.found is not None
    first, second = placed([one.found], [one, Pooled(entity(2, "t"), None)], [0.4, 0.3])
    assert first.candidate.score == one.found.score == sum(signal.contribution for signal in first.candidate.signals)
    assert [signal.kind for signal in first.candidate.signals] == [SignalKind.RANK, SignalKind.RERANK]
    (verdict,) = second.candidate.signals
    assert (second.candidate.score, verdict.contribution, verdict.raw_score, verdict.rank) == (0.0, 0.0, 0.3, None)


def test_a_fragment_that_spoke_for_a_neighbour_does_not_follow_once_more() -> None:
    late = found(fragment(5, "a"), 15)
    assert late.found is not None
    (only,) = placed([late.found], [Pooled(late.entity, late.fragment)], [0.9])
    assert (only.score, only.candidate.score) == (0.9, 0.0)
