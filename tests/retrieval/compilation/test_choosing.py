"""What enters a pack and what is dropped: the rules one by one, and what holds for any candidates and any budget."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.compilation.choosing import Candidate, Current, Decided, DropReason, choose, place_of
from retrieval.compilation.item import Item, ItemKind

FRAGMENT, FACT, ENTITY = ItemKind.FRAGMENT, ItemKind.FACT, ItemKind.ENTITY
OVER, TWICE = DropReason.OVER_BUDGET, DropReason.DUPLICATE


def fragment(id: int, price: int, score: float = 1.0, *, entity: int = 0, text: str = "") -> Candidate:
    return Candidate(Item(FRAGMENT, 1, id), entity or 100 + id, score, (), "", text or f"fragment {id}", price)


def entity(id: int, price: int, score: float = 1.0, text: str = "") -> Candidate:
    return Candidate(Item(ENTITY, 1, id), id, score, (), "", text or f"entity {id}", price)


def fact(id: int, price: int, score: float = 1.0, *, group: int | None = None, text: str = "") -> Candidate:
    return Candidate(Item(FACT, 1, id), 1, score, (), "", text or f"fact {id}", price, group)


def chosen(candidates: Sequence[Candidate], budget: int, current: Current | None = None) -> Decided:
    return choose(sorted(candidates, key=place_of), budget, current)


def names(decided: Decided) -> list[str]:
    return [one.text for one in decided.entered]


def drops(decided: Decided) -> list[tuple[str, DropReason]]:
    return [(one.candidate.text, one.reason) for one in decided.dropped]


def test_what_does_not_fit_is_dropped_and_the_next_is_tried() -> None:
    decided = chosen([fragment(1, 5, 3), fragment(2, 6, 2), fragment(3, 5, 1)], 10)
    assert names(decided) == ["fragment 1", "fragment 3"]
    assert drops(decided) == [("fragment 2", OVER)]
    assert (decided.used, decided.truncated) == (10, True)


def test_what_fits_whole_is_not_truncated() -> None:
    decided = chosen([fragment(1, 5), entity(2, 5)], 10)
    assert not decided.truncated
    assert decided.used == 10


def test_equal_scores_go_by_kind_namespace_and_number() -> None:
    other = Candidate(Item(FRAGMENT, 2, 1), 1, 1.0, (), "", "elsewhere", 1)
    assert names(chosen([entity(1, 1), fact(1, 1), other, fragment(2, 1), fragment(1, 1)], 99)) == [
        "fragment 1", "fragment 2", "elsewhere", "fact 1", "entity 1",
    ]  # fmt: skip


def test_an_equal_text_enters_once() -> None:
    decided = chosen([fragment(1, 2, 3, text="same"), fragment(2, 2, 2, text="same"), fact(3, 2, 1, text="same")], 99)
    assert names(decided) == ["same"]
    assert drops(decided) == [("same", TWICE), ("same", TWICE)]


def test_a_text_that_is_the_state_of_the_caller_does_not_enter() -> None:
    decided = chosen([fragment(1, 2, text="{}")], 99, Current("{}", 1))
    assert drops(decided) == [("{}", TWICE)]
    assert decided.used == 1


def test_a_text_that_was_dropped_does_not_stand_in_the_way_of_its_equal() -> None:
    decided = chosen([fragment(1, 9, 2, text="same"), fragment(2, 3, 1, text="same")], 5)
    assert names(decided) == ["same"]
    assert drops(decided) == [("same", OVER)]


def test_an_entity_does_not_enter_beside_its_fragment() -> None:
    decided = chosen([fragment(1, 2, 2, entity=7), entity(7, 1, 1)], 99)
    assert names(decided) == ["fragment 1"]
    assert drops(decided) == [("entity 7", TWICE)]


def test_a_fragment_takes_the_place_of_its_entity() -> None:
    decided = chosen([entity(7, 4, 2), fragment(1, 5, 1, entity=7)], 5)
    assert names(decided) == ["fragment 1"]
    assert drops(decided) == [("entity 7", TWICE)]
    assert decided.used == 5


def test_a_fragment_that_does_not_fit_leaves_its_entity_in_place() -> None:
    decided = chosen([entity(7, 4, 2), fragment(1, 6, 1, entity=7)], 5)
    assert names(decided) == ["entity 7"]
    assert drops(decided) == [("fragment 1", OVER)]
    assert decided.used == 4


def test_the_text_of_an_entity_that_left_may_come_again() -> None:
    decided = chosen([entity(7, 1, 3, text="same"), fragment(1, 1, 2, entity=7), fragment(2, 1, 1, text="same")], 9)
    assert names(decided) == ["fragment 1", "same"]


def test_an_entity_of_another_namespace_is_another_one() -> None:
    other = Candidate(Item(ENTITY, 2, 7), 7, 0.5, (), "", "entity elsewhere", 1)
    assert names(chosen([fragment(1, 2, entity=7), other], 9)) == ["fragment 1", "entity elsewhere"]


def test_a_conflict_enters_side_by_side_at_the_turn_of_its_best() -> None:
    decided = chosen([fact(1, 2, 9, group=0), fragment(5, 1, 5), fact(2, 2, 1, group=0)], 99)
    assert names(decided) == ["fact 1", "fact 2", "fragment 5"]


def test_a_conflict_that_does_not_fit_whole_does_not_enter() -> None:
    decided = chosen([fact(1, 2, 9, group=0), fragment(5, 1, 5), fact(2, 4, 1, group=0)], 5)
    assert names(decided) == ["fragment 5"]
    assert drops(decided) == [("fact 1", OVER), ("fact 2", OVER)]


def test_a_conflict_that_fits_exactly_enters() -> None:
    assert chosen([fact(1, 2, 9, group=0), fact(2, 3, 1, group=0)], 5).used == 5


def test_members_of_a_conflict_may_read_alike() -> None:
    decided = chosen([fact(1, 1, 2, group=0, text="same"), fact(2, 1, 1, group=0, text="same"), fact(3, 1, 0.5, text="same")], 9)
    assert [one.item.id for one in decided.entered] == [1, 2]
    assert drops(decided) == [("same", TWICE)]


def test_a_state_that_was_cut_truncates_the_pack() -> None:
    assert chosen([], 5, Current("{", 1, is_cut=True)).truncated
    assert not chosen([], 5, Current("{}", 1)).truncated


def test_nothing_to_choose_from_is_an_empty_pack() -> None:
    assert chosen([], 1) == Decided(None, (), (), 1, 0)


@st.composite
def any_candidates(draw: st.DrawFn) -> list[Candidate]:
    """Candidates of few entities and few texts, with conflicts of two or more facts."""
    found: dict[Item, Candidate] = {}
    for id in range(draw(st.integers(0, 25))):
        kind = draw(st.sampled_from((FRAGMENT, FACT, ENTITY)))
        node = id if kind is ENTITY else draw(st.integers(0, 8))
        group = draw(st.sampled_from((None, 0, 1))) if kind is FACT else None
        text = draw(st.sampled_from("abcdefghij")) * draw(st.integers(0, 3))
        price = draw(st.sampled_from((0, 1, 3, 40, 333_333)))
        one = Candidate(Item(kind, 1, id), node, draw(st.floats(0, 0.1)), (), "", text, price, group)
        found[one.item] = one
    return sorted(found.values(), key=place_of)


@given(any_candidates(), st.integers(1, 1_000_000) | st.integers(1, 90), st.none() | st.integers(0, 1))
def test_what_holds_for_every_pack(candidates: list[Candidate], budget: int, state: int | None) -> None:
    current = None if state is None else Current("abc", state)
    decided = choose(candidates, budget, current)
    entered, dropped = list(decided.entered), [one.candidate for one in decided.dropped]
    assert decided.used == sum(one.price for one in entered) + (current.price if current else 0) <= budget
    assert sorted([*entered, *dropped], key=place_of) == candidates, "each is in, or dropped, once"
    alone = [one.text for one in entered if one.group is None]
    assert len(set(alone)) == len(alone)
    assert current is None or current.text not in alone
    for group in (0, 1):
        members = [one for one in candidates if one.group == group]
        inside = [one for one in entered if one.group == group]
        assert inside in ([], members), "a conflict is in whole, in its order, or not at all"
        if inside:
            first = entered.index(inside[0])
            assert entered[first : first + len(inside)] == inside, "and side by side"
    with_text = {one.node for one in entered if one.item.kind is FRAGMENT}
    assert not any(one.item.kind is ENTITY and one.node in with_text for one in entered)
    assert decided.truncated is bool(dropped)


@pytest.mark.parametrize("budget", [1, 2, 3, 10, 999_999, 1_000_000])
def test_more_budget_than_all_prices_drops_only_what_is_there_twice(budget: int) -> None:
    decided = chosen([fragment(1, 1, text="x"), fragment(2, 1, text="y"), fragment(3, 1, text="x")], budget)
    assert {reason for _, reason in drops(decided)} <= ({TWICE} if budget > 1 else {TWICE, OVER})
