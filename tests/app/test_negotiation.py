"""Accept headers and what they are answered with."""

from __future__ import annotations

import pytest

from app.negotiation import EVENTS, GRAPHQL, JSON, EventsWish, answer_type, events_wish, wants_page


@pytest.mark.parametrize(
    ("accept", "answer"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        (JSON, JSON),
        (GRAPHQL, GRAPHQL),
        (f"{JSON}, {GRAPHQL}", GRAPHQL),
        (f"{GRAPHQL};q=0.8, {JSON};q=0.9", JSON),
        (f"{GRAPHQL};q=0.9, {JSON};q=0.8", GRAPHQL),
        (f"{GRAPHQL};q=0, */*", JSON),
        (f"{GRAPHQL};q=odd", None),
        ("Application/GraphQL-Response+JSON; charset=utf-8", GRAPHQL),
        (f"{JSON};q=0", None),
        ("text/html", None),
    ],
)
def test_the_answer_type_follows_the_wish(accept: str | None, answer: str | None) -> None:
    assert answer_type(accept) == answer


@pytest.mark.parametrize(
    ("accept", "page"),
    [
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", True),
        ("*/*", False),
        (None, False),
        ("text/html;q=0.5, application/json", False),
        ("application/json, text/html", True),
    ],
)
def test_only_who_names_html_gets_the_page(accept: str | None, page: bool) -> None:
    assert wants_page(accept) is page


@pytest.mark.parametrize(
    ("accept", "wish"),
    [
        (None, EventsWish.NONE),
        ("*/*", EventsWish.NONE),
        (f"{EVENTS};q=0, */*", EventsWish.NONE),
        (f"{EVENTS};q=nan, {JSON}", EventsWish.NONE),
        (f"{EVENTS};q=inf, {JSON}", EventsWish.NONE),
        (EVENTS, EventsWish.PREFERRED),
        (f"{EVENTS}, */*", EventsWish.PREFERRED),
        (f"{JSON};q=0.9, {EVENTS}", EventsWish.PREFERRED),
        (f"{EVENTS}, {JSON}", EventsWish.TAKEN),
        (f"{GRAPHQL}, {JSON}, {EVENTS}, multipart/mixed", EventsWish.TAKEN),
        (f"{EVENTS};q=0.5, */*", EventsWish.TAKEN),
    ],
)
def test_events_are_for_those_who_want_them_more_than_json(accept: str | None, wish: EventsWish) -> None:
    assert events_wish(accept) is wish
