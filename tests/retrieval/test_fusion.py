"""Fusion is by rank, explains itself, and does not depend on the order in which lists come back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.fusion import fuse
from retrieval.ranking import Channel, Hit, Ranking


def ranking(channel: Channel, ids: list[int]) -> Ranking:
    return Ranking(channel, tuple(Hit(1, id, id, 1.0 / (place + 1)) for place, id in enumerate(ids)), 20)


def even(_: Channel) -> float:
    return 1.0


def test_the_first_of_two_lists_scores_two_sixty_firsts() -> None:
    (best, *_) = fuse([ranking(Channel.VECTOR, [5, 6]), ranking(Channel.LEXICAL, [5, 7])], even)
    assert best.hit.item_id == 5
    assert best.score == 1 / 61 + 1 / 61
    assert [(signal.channel, signal.rank) for signal in best.signals] == [(Channel.VECTOR, 0), (Channel.LEXICAL, 0)]


def test_ties_are_ordered_by_id() -> None:
    fused = fuse([ranking(Channel.VECTOR, [9, 3]), ranking(Channel.LEXICAL, [3, 9])], even)
    assert [candidate.hit.item_id for candidate in fused] == [3, 9]


def test_weights_scale_contributions_and_a_zero_leaves_the_item_in_place() -> None:
    fused = fuse(
        [ranking(Channel.VECTOR, [1]), ranking(Channel.LEXICAL, [2])],
        lambda channel: 4.0 if channel is Channel.LEXICAL else 0.0,
    )
    assert [(candidate.hit.item_id, candidate.score) for candidate in fused] == [(2, 4 / 61), (1, 0.0)]


@given(
    st.lists(st.integers(1, 40), unique=True, max_size=20),
    st.lists(st.integers(1, 40), unique=True, max_size=20),
    st.floats(0, 10),
)
def test_signals_add_up_exactly(vector: list[int], lexical: list[int], weight: float) -> None:
    fused = fuse(
        [ranking(Channel.VECTOR, vector), ranking(Channel.LEXICAL, lexical)],
        lambda channel: weight if channel is Channel.VECTOR else 1.0,
    )
    assert {candidate.hit.item_id for candidate in fused} == {*vector, *lexical}
    for candidate in fused:
        total = 0.0
        for signal in candidate.signals:
            assert signal.contribution == (signal.weight or 0.0) / (60 + (signal.rank or 0) + 1)
            total += signal.contribution
        assert total == candidate.score
    assert [candidate.score for candidate in fused] == sorted((c.score for c in fused), reverse=True)
