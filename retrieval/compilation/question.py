"""A pack as a value: what it is asked with, checked once, equal when it means the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import orjson

from retrieval.access import Space
from retrieval.compilation.item import CHANNELS
from retrieval.errors import BadInput
from retrieval.keys import check_key
from retrieval.question import Locale, check_instant, check_namespaces, check_scopes, check_values, depth_of, is_finite, within
from retrieval.ranking import Channel
from retrieval.subgraph import EntityRef, checked
from retrieval.text import blank, strict
from retrieval.tuning import Tuning

TEXT = frozenset({Channel.LEXICAL, Channel.VECTOR})
"""The channels that need the text of a question."""


class Strategy(StrEnum):
    """Which channels run."""

    HYBRID = "HYBRID"
    CONTEXT = "CONTEXT"
    SEMANTIC = "SEMANTIC"
    EXACT = "EXACT"
    GRAPH = "GRAPH"
    BRIEFING = "BRIEFING"


CHANNELS_OF: dict[Strategy, frozenset[Channel]] = {
    Strategy.HYBRID: frozenset(CHANNELS),
    Strategy.CONTEXT: frozenset(CHANNELS),
    Strategy.SEMANTIC: frozenset({Channel.VECTOR}),
    Strategy.EXACT: frozenset({Channel.LEXICAL}),
    Strategy.GRAPH: frozenset({Channel.GRAPH, Channel.FACTS}),
    Strategy.BRIEFING: frozenset({Channel.GRAPH, Channel.FACTS, Channel.RECENT}),
}


@dataclass(frozen=True, slots=True)
class PackQuestion:
    """One pack: equal ones of a request share all their work."""

    text: str
    namespaces: tuple[str, ...] | None
    max_tokens: int
    relevance_scopes: tuple[str, ...] = ()
    """Those that were given; `scopes` has that of the subject too."""
    allowed_scopes: tuple[str, ...] | None = None
    anchors: tuple[EntityRef, ...] = ()
    """Those that were given; `starts` has that of the subject too."""
    subject: str | None = None
    """`type:id`: a key of an anchor and a relevance scope."""
    current: str | None = None
    """The caller's own state as JSON text, its keys in the order given; None when there is none."""
    strategy: Strategy = Strategy.HYBRID
    as_of: datetime | None = None
    known_at: datetime | None = None
    k: int = 8
    locale: Locale = "AUTO"

    @property
    def scopes(self) -> tuple[str, ...]:
        """The requested relevance scopes, each once."""
        return tuple(dict.fromkeys((*self.relevance_scopes, *self._of_subject)))

    @property
    def starts(self) -> tuple[EntityRef, ...]:
        """What facts and graph start from, each once."""
        return tuple(dict.fromkeys((*self.anchors, *(EntityRef(None, key) for key in self._of_subject))))

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels of the strategy, in their order; one that cannot start finds nothing."""
        return tuple(channel for channel in CHANNELS if channel in CHANNELS_OF[self.strategy])

    @property
    def started(self) -> frozenset[Channel]:
        """The channels that have something to start from: by what was given, whether or not it is there."""
        has_text = not blank(self.text)
        able = {
            Channel.LEXICAL: has_text,
            Channel.VECTOR: has_text,
            Channel.FACTS: bool(self.starts),
            Channel.GRAPH: bool(self.starts) or (has_text and not TEXT.isdisjoint(self.channels)),
            Channel.RECENT: bool(self.scopes),
        }
        return frozenset(channel for channel in self.channels if able[channel])

    @property
    def _of_subject(self) -> tuple[str, ...]:
        return () if self.subject is None else (self.subject,)


def make_pack_question(
    tuning: Tuning,
    text: str = "",
    *,
    namespaces: Iterable[str] | None = None,
    relevance_scopes: Iterable[str] = (),
    allowed_scopes: Iterable[str] | None = None,
    anchors: Iterable[EntityRef] = (),
    subject: tuple[str, str] | None = None,
    ephemeral_context: Any = None,
    max_tokens: int | None = None,
    strategy: Strategy = Strategy.HYBRID,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
    k: int = 8,
    locale: Locale = "AUTO",
) -> PackQuestion:
    """Check every argument of a pack; raises `BadInput` with what to change."""
    most = tuning.context_default_max_tokens if max_tokens is None else max_tokens
    within("maxTokens", most, 1, tuning.context_tokens_most)
    within("k", k, 1, tuning.context_k_most)
    asked = PackQuestion(
        text=checked_text(tuning, text),
        namespaces=check_namespaces(tuning, namespaces),
        max_tokens=most,
        relevance_scopes=checked_scopes("relevanceScopes", relevance_scopes, tuning.context_scopes_most),
        allowed_scopes=checked_allowed(tuning, allowed_scopes),
        anchors=checked_anchors(tuning, list(anchors)),
        subject=None if subject is None else checked_subject(tuning, *subject),
        current=checked_state(tuning, ephemeral_context),
        strategy=strategy,
        as_of=None if as_of is None else check_instant("asOf", as_of),
        known_at=None if known_at is None else check_instant("knownAt", known_at),
        k=k,
        locale=locale,
    )
    if not asked.started:
        raise BadInput(f"Strategy {strategy.value} has nothing to start from; give {to_start_from(asked.channels)}.")
    return asked


def checked_text(tuning: Tuning, text: str) -> str:
    """The question in composed form; it may be blank."""
    if len(text) > tuning.question_most:
        raise BadInput(f"The question has {len(text):,} characters; at most {tuning.question_most:,} are taken.")
    return strict(text, "The question")


def checked_anchors(tuning: Tuning, anchors: Sequence[EntityRef]) -> tuple[EntityRef, ...]:
    """Anchors whose names can be looked up, each once."""
    if len(anchors) > tuning.typed_anchors:
        raise BadInput(f"`anchors` has {len(anchors):,} items; give at most {tuning.typed_anchors}.")
    return tuple(dict.fromkeys(checked(tuning, ref, "`anchors`") for ref in anchors))


def checked_scopes(name: str, scopes: Iterable[str], most: int) -> tuple[str, ...]:
    """Relevance scopes, each once; raises `BadInput` for one that is not of the form `type:id`."""
    return check_scopes(name, check_values(name, scopes, most))


def checked_allowed(tuning: Tuning, scopes: Iterable[str] | None) -> tuple[str, ...] | None:
    """The only scopes that are allowed; None is any."""
    return None if scopes is None else checked_scopes("allowedScopes", scopes, tuning.filter_values_most)


def checked_subject(tuning: Tuning, kind: str, id: str) -> str:
    """The subject as the key of an anchor, which is a relevance scope as well."""
    if not kind or not id:
        raise BadInput("`subject` needs a `type` and an `id`; leave it out or fill both.")
    return strict(check_key(f"{kind}:{id}", tuning.key_most, "`subject`"), "`subject`")


def checked_state(tuning: Tuning, state: Any) -> str | None:
    """The caller's own state as JSON text; None when it is left out or empty."""
    if state is None or state == {}:
        return None
    if not isinstance(state, dict):
        raise BadInput('`ephemeralContext` must be a JSON object, such as {"page": "billing"}.')
    levels = tuning.context_state_levels
    if depth_of(state) > levels:
        raise BadInput(f"`ephemeralContext` is nested more than {levels} levels deep; make it flatter.")
    if not is_finite(state):
        raise BadInput("`ephemeralContext` holds a number that JSON lacks, such as NaN or 1e400.")
    try:
        text = orjson.dumps(state)
    except (TypeError, ValueError, RecursionError):
        raise BadInput(
            "`ephemeralContext` holds something that is not JSON, such as a lone surrogate or a huge whole number."
        ) from None
    if len(text) > tuning.context_state_bytes:
        raise BadInput(f"`ephemeralContext` takes {len(text):,} bytes as JSON; at most {tuning.context_state_bytes:,} are taken.")
    return text.decode()


def to_start_from(channels: Sequence[Channel]) -> str:
    """What would let one of these channels start, for people."""
    ways = {
        "a question": not TEXT.isdisjoint(channels),
        "an anchor or a subject": Channel.FACTS in channels,
        "a relevance scope": Channel.RECENT in channels,
    }
    return " or ".join(way for way, helps in ways.items() if helps)


def places_of(asked: PackQuestion, spaces: Iterable[Space]) -> list[tuple[Space, str]]:
    """Where to look for each start: in its namespace, or in all of them; one in a namespace that is not asked for is nowhere."""
    listed = sorted(spaces, key=lambda space: space.ns)
    return [(space, ref.key) for ref in asked.starts for space in listed if ref.namespace in (None, space.name)]
