"""The score of an item is the sum of its signals, and each bonus applies where it should."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.compilation.item import CHANNELS, ChannelList, Item, ItemKind, PackHit
from retrieval.compilation.scoring import Traits, Wanted, age_in_hours, bonuses, rank_signals, total, weight_of, whole_hour
from retrieval.ranking import Channel, SignalKind
from retrieval.tuning import Tuning

TUNING = Tuning()
AT = datetime(2026, 9, 5, 12, tzinfo=UTC)


def wanted(identifiers: str = "", scopes: str = "") -> Wanted:
    return Wanted(frozenset(identifiers.split()), frozenset(scopes.split()), AT)


def kinds(traits: Traits, asked: Wanted) -> list[str]:
    return [signal.kind.value for signal in bonuses(TUNING, asked, traits)]


def listed(channel: Channel, *ids: int) -> ChannelList:
    return ChannelList(channel, tuple(PackHit(Item(ItemKind.FRAGMENT, 1, id), id, 0.5) for id in ids), 20)


def test_places_count_by_the_weight_of_their_channel_up_to_k() -> None:
    lists = {Channel.RECENT: listed(Channel.RECENT, 1, 2), Channel.VECTOR: listed(Channel.VECTOR, 2, 1, 3)}
    found = rank_signals(TUNING, lists, 2)
    first = found[Item(ItemKind.FRAGMENT, 1, 1)]
    assert [(s.channel, s.rank, s.raw_score, s.weight, s.contribution) for s in first] == [
        (Channel.VECTOR, 1, 0.5, 1.0, 1.0 / 62),
        (Channel.RECENT, 0, 0.5, 0.6, 0.6 / 61),
    ]
    assert {item.id for item in found} == {1, 2}


def test_channels_weigh_as_the_specification_says() -> None:
    assert {channel.value: weight_of(TUNING, channel) for channel in CHANNELS} == {
        "LEXICAL": 1.0, "VECTOR": 1.0, "FACTS": 1.0, "GRAPH": 0.7, "RECENT": 0.6,
    }  # fmt: skip


def test_an_exact_identifier_of_the_question_counts() -> None:
    assert kinds(Traits(AT, (), ("опс-17", "x-1")), wanted("опс-17")) == ["IDENTIFIER", "FRESHNESS"]
    assert kinds(Traits(AT, (), ("опс-171",)), wanted("опс-17")) == ["FRESHNESS"]


def test_a_requested_scope_counts_once() -> None:
    signals = bonuses(TUNING, wanted(scopes="a:1 a:2"), Traits(AT, ("a:1", "a:2", "b:1")))
    assert [(s.kind, s.weight, s.contribution, s.raw_score) for s in signals[:-1]] == [
        (SignalKind.RELEVANCE_SCOPE, 0.004, 0.004, None)
    ]


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_fact_counts_by_its_evidence_and_by_being_in_force(rank: int) -> None:
    signals = bonuses(TUNING, wanted(), Traits(AT, (), (), True, rank))
    assert [(s.kind.value, s.channel, s.rank, s.raw_score, s.weight, s.contribution) for s in signals] == [
        ("IN_FORCE", None, None, None, 0.003, 0.003),
        ("EVIDENCE", None, None, float(rank), 0.002, 0.002 * rank),
        ("FRESHNESS", None, None, 0.0, 0.005, 0.005),
    ]
    assert kinds(Traits(AT, (), (), False, rank), wanted()) == ["EVIDENCE", "FRESHNESS"]


@pytest.mark.parametrize(
    ("age", "hours", "contribution"),
    [
        (timedelta(minutes=59), 0, 0.005),
        (timedelta(hours=1), 1, 0.005 * 0.5 ** (1 / 336)),
        (timedelta(days=14), 336, 0.0025),
        (timedelta(days=28), 672, 0.00125),
        (timedelta(days=-3), 0, 0.005),
        (AT - datetime(1, 1, 1, tzinfo=UTC), 17_756_724, 0.0),
    ],
)
def test_freshness_halves_every_fortnight(age: timedelta, hours: int, contribution: float) -> None:
    (signal,) = bonuses(TUNING, wanted(), Traits(AT - age, ()))
    assert (signal.raw_score, signal.weight, signal.contribution) == (hours, 0.005, contribution)


def test_the_clock_is_cut_to_the_hour() -> None:
    assert whole_hour(datetime(2026, 9, 5, 12, 59, 59, 999_999, tzinfo=UTC)) == AT


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_an_age_is_in_whole_hours_and_never_negative(since: datetime, at: datetime) -> None:
    hours = age_in_hours(since, at)
    assert hours >= 0
    assert at < since or timedelta(0) <= at - since - timedelta(hours=hours) < timedelta(hours=1)


def test_a_score_is_added_from_left_to_right() -> None:
    signals = bonuses(TUNING, wanted("a-1", "s:1"), Traits(AT - timedelta(days=5), ("s:1",), ("a-1",), True, 3))
    left_to_right = 0.0
    for signal in signals:
        left_to_right += signal.contribution
    assert total(signals) == left_to_right
    assert len(signals) == 5
