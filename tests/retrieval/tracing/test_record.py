"""A trace goes to JSON and back, and loses what is hidden or erased without a sign of it but for the ranks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import orjson

from retrieval.compilation.item import Item, ItemKind
from retrieval.ranking import Channel, Signal, SignalKind
from retrieval.tracing.plain import plain_of, record_of
from retrieval.tracing.record import (
    BudgetTrace,
    CandidateTrace,
    ChannelTrace,
    Operation,
    Outcome,
    Place,
    StageTrace,
    TraceRecord,
    mark_of_key,
)

FRAGMENT, FACT, ENTITY = (
    Item(kind, 1, number) for number, kind in enumerate((ItemKind.FRAGMENT, ItemKind.FACT, ItemKind.ENTITY), 1)
)
FAR = Item(ItemKind.FRAGMENT, 2, 4)
RANKED = Signal(SignalKind.RANK, Channel.LEXICAL, 0, 1.5, 1.0, 1 / 61)
FRESH = Signal(SignalKind.FRESHNESS, None, None, 12.0, 0.005, 0.1 + 0.2)
RECORD = TraceRecord(
    trace_id="ctx-0",
    principal_id=7,
    made_by="ann",
    namespaces=(1, 2),
    created_at=datetime(2026, 5, 1, 12, 30, 0, 123456, UTC),
    operation=Operation.CONTEXT_PACK,
    language="ru",
    k=8,
    request={
        "question": "кто",
        "anchors": [{"namespace": None, "key": "a"}, {"namespace": "docs", "key": "b"}, {"namespace": "other", "key": "a"}],
        "subject": "user:1",
        "relevanceScopes": ["user:1", "user:2"],
        "allowedScopes": None,
        "strategy": "HYBRID",
    },
    ephemeral_size=12,
    channels=(
        ChannelTrace(Channel.LEXICAL, 1.0, 20, None, 3.25, (Place(FRAGMENT, 11, 0), Place(FAR, 14, 9))),
        ChannelTrace(Channel.FACTS, 1.0, 20, True, 0.1, (Place(FACT, 12, 0),)),
    ),
    stages=(StageTrace("ranked", ("caller",), 0.5, 12.25, None, "INTERNAL"), StageTrace("decided", (), 13.0, 0.0)),
    candidates=(
        CandidateTrace(FRAGMENT, 11, RANKED.contribution + FRESH.contribution, (RANKED, FRESH), Outcome.INCLUDED, 30),
        CandidateTrace(FACT, 12, 0.0, (), Outcome.OVER_BUDGET, 9),
        CandidateTrace(ENTITY, 3, 1e-300, (), Outcome.DUPLICATE, 2),
    ),
    budget=BudgetTrace(40, 5, True, (FACT, ENTITY)),
)


def test_it_comes_back_from_json_as_it_was() -> None:
    assert record_of(orjson.loads(orjson.dumps(plain_of(RECORD)))) == RECORD
    bare = replace(RECORD, principal_id=None, k=None, budget=None, channels=(), stages=(), candidates=())
    assert record_of(orjson.loads(orjson.dumps(plain_of(bare)))) == bare


def test_how_many_rows_a_stage_gave_is_not_kept() -> None:
    counted = replace(RECORD, stages=(StageTrace("hits", (), 0.0, 1.0, 8),))
    (stage,) = record_of(plain_of(counted)).stages
    assert stage == StageTrace("hits", (), 0.0, 1.0, None)


def test_it_names_every_item_once_with_its_entity() -> None:
    assert RECORD.items == {FRAGMENT: 11, FACT: 12, ENTITY: 3, FAR: 14}


def test_it_is_found_by_entities_facts_and_given_keys() -> None:
    keys = {mark_of_key(key) for key in ("a", "b", "user:1", "user:2")}
    assert set(RECORD.marks()) == {"e11", "e12", "e3", "e14", "a2"} | keys


def test_what_is_taken_out_is_nowhere_and_the_ranks_of_others_stay() -> None:
    left = RECORD.without({FRAGMENT, FACT})
    assert left.items == {ENTITY: 3, FAR: 14}
    assert [place.rank for channel in left.channels for place in channel.places] == [9]
    assert left.budget == BudgetTrace(40, 5, True, (ENTITY,))
    assert RECORD.without(set()) == RECORD


def test_keys_leave_what_was_asked_in_their_own_namespace_only() -> None:
    left = RECORD.without_keys("docs", ["a", "user:1"])
    assert left.request["anchors"] == [{"namespace": "docs", "key": "b"}, {"namespace": "other", "key": "a"}]
    assert (left.request["subject"], left.request["relevanceScopes"]) == (None, ["user:2"])
    assert (left.request["question"], left.request["erased"]) == ("кто", True)
    assert RECORD.without_keys("docs", ["c"]) is RECORD


def test_a_key_is_the_same_in_any_form_of_its_letters() -> None:
    composed, apart = "\u0439", "\u0438\u0306"
    asked = replace(RECORD, request={"anchors": [{"namespace": None, "key": composed}]})
    assert asked.without_keys("docs", [apart]).request["anchors"] == []


def test_a_question_that_holds_an_erased_key_goes() -> None:
    asked = replace(RECORD, request={"question": "what of PAY-101?"})
    assert asked.without_keys("docs", ["PAY-101"]).request == {"question": "", "anchors": [], "erased": True}


def test_a_text_that_a_walk_began_with_goes_when_it_holds_an_erased_key() -> None:
    text = {"namespace": None, "key": "PAY-101 is late", "kind": "ticket"}
    key = {"namespace": None, "key": "PAY-101/notes"}
    asked = replace(RECORD, request={"anchors": [text, key]})
    assert asked.without_keys("docs", ["PAY-101"]).request == {"anchors": [key], "erased": True}
    assert asked.without_keys("docs", ["PA"]) is asked, "a short key is a word of its own"
