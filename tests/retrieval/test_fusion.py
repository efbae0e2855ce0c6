"""Fusion is by rank, explains itself, and does not depend on the order in which lists come back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.fusion import evidence_of, fold, fuse
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


def test_a_hit_adds_its_part_of_the_weight_of_its_channel() -> None:
    parts = {Channel.VECTOR: (1.0, 0.0), Channel.LEXICAL: (1.0, 0.25)}
    fused = fuse(
        [ranking(Channel.VECTOR, [1, 2]), ranking(Channel.LEXICAL, [3, 1])], lambda _: 2.0, part=lambda list: parts[list.channel]
    )
    assert [(one.hit.item_id, one.score) for one in fused] == [(1, 2 / 61 + 0.5 / 62), (3, 2 / 61), (2, 0.0)]
    assert [(signal.channel, signal.weight) for signal in fused[0].signals] == [(Channel.VECTOR, 2.0), (Channel.LEXICAL, 0.5)]


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


def fragments(channel: Channel, *places: tuple[int, int]) -> Ranking:
    """A list of fragments, each with its entity."""
    return Ranking(channel, tuple(Hit(1, id, entity, 1.0 / (rank + 1)) for rank, (id, entity) in enumerate(places)), 20, True)


def test_an_entity_takes_the_place_of_its_best_fragment_and_ranks_count_over_entities() -> None:
    folded = fold(fragments(Channel.VECTOR, (31, 3), (32, 3), (11, 1), (33, 3), (21, 2)))
    assert folded.hits == (Hit(1, 3, 3, 1.0, 31), Hit(1, 1, 1, 1 / 3, 11), Hit(1, 2, 2, 1 / 5, 21))
    assert (folded.channel, folded.asked, folded.exact) == (Channel.VECTOR, 20, True)
    (_, second, third) = fuse([folded], even)
    assert [(one.hit.item_id, one.signals[0].rank) for one in (second, third)] == [(1, 1), (2, 2)]


def test_equal_ids_of_two_namespaces_are_two_entities() -> None:
    folded = fold(Ranking(Channel.LEXICAL, (Hit(1, 5, 7, 0.9), Hit(2, 5, 7, 0.8)), 20))
    assert [(hit.ns, hit.item_id, hit.evidence) for hit in folded.hits] == [(1, 7, 5), (2, 7, 5)]


def test_the_evidence_is_of_the_list_where_the_entity_stands_higher_and_of_the_first_when_equal() -> None:
    vector = fold(fragments(Channel.VECTOR, (11, 1), (21, 2), (31, 3)))
    lexical = fold(fragments(Channel.LEXICAL, (12, 1), (32, 3), (41, 4)))
    walked = ranking(Channel.GRAPH, [3, 9])
    assert evidence_of([vector, lexical, walked]) == {(1, 1): 11, (1, 2): 21, (1, 3): 32, (1, 4): 41}


def test_lists_by_entity_are_summed_in_the_order_given() -> None:
    lists = [
        fold(fragments(Channel.VECTOR, (11, 1), (12, 1), (21, 2))),
        ranking(Channel.GRAPH, [2]),
        ranking(Channel.SQL, [1, 2]),
    ]
    (first, second) = fuse(lists, even)
    assert [(signal.channel, signal.rank) for signal in first.signals] == [
        (Channel.VECTOR, 1), (Channel.GRAPH, 0), (Channel.SQL, 1)
    ]  # fmt: skip
    assert (first.hit.item_id, first.score) == (2, 1 / 62 + 1 / 61 + 1 / 62)
    assert (second.hit.item_id, second.score) == (1, 1 / 61 + 1 / 61)


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 6)), unique_by=lambda place: place[0], max_size=30))
def test_folding_keeps_every_entity_once_in_the_order_of_the_fragments(places: list[tuple[int, int]]) -> None:
    folded = fold(fragments(Channel.LEXICAL, *places))
    assert [hit.item_id for hit in folded.hits] == list(dict.fromkeys(entity for _, entity in places))
