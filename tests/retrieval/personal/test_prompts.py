"""Chat providers read masks, whoever asks, unless the deployment allows personal data."""

from __future__ import annotations

from datetime import UTC, datetime

from retrieval.personal.prompts import entity_for_chat, fragment_for_chat, question_for_chat
from retrieval.records import Entity, Fragment
from retrieval.reranking.pool import Pooled, for_chat

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MAIL = "ann@example.com"
ENTITY = Entity(1, 1, "a", f"person/{MAIL}", "THING", "person", MAIL, f"ask {MAIL}", f"crm/{MAIL}", False, {}, (), NOW, NOW, None)
FRAGMENT = Fragment(1, 1, ENTITY, 0, MAIL, MAIL, f"Write to {MAIL}", {}, ())


def test_nothing_that_stands_in_a_prompt_holds_personal_data() -> None:
    entity, fragment = entity_for_chat(ENTITY, False), fragment_for_chat(FRAGMENT, False)
    shown = entity.key, entity.title, entity.status, entity.source_path
    assert shown == ("person/[EMAIL]", "[EMAIL]", "ask [EMAIL]", "crm/[EMAIL]")
    assert (fragment.title, fragment.heading, fragment.text) == ("[EMAIL]", "[EMAIL]", "Write to [EMAIL]")
    assert fragment.entity == entity
    assert question_for_chat(f"Who is {MAIL}?", False) == "Who is [EMAIL]?"
    assert MAIL not in for_chat(Pooled(ENTITY, FRAGMENT), False).text
    assert MAIL not in for_chat(Pooled(ENTITY, None), False).text


def test_a_deployment_may_allow_them() -> None:
    assert entity_for_chat(ENTITY, True) == ENTITY
    assert fragment_for_chat(FRAGMENT, True) == FRAGMENT
    assert question_for_chat(MAIL, True) == MAIL
    assert for_chat(Pooled(ENTITY, FRAGMENT), True) == Pooled(ENTITY, FRAGMENT)
