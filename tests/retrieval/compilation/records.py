"""Stored things that tests of packs are about, made without a base."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from retrieval.records import Entity, Fact, Fragment

START = datetime(2020, 1, 1, tzinfo=UTC)


def entity(key: str = "svc/billing", title: str = "Billing", **given: Any) -> Entity:
    """An entity."""
    plain: dict[str, Any] = {
        "ns": 1, "entity_id": 7, "namespace": "docs", "kind": "THING", "type": "service", "status": None, "source_path": None,
        "restricted": False, "meta": {}, "relevance_scopes": (), "created_at": START, "updated_at": START, "occurred_at": None,
    }  # fmt: skip
    return Entity(key=key, title=title, **{**plain, **given})


def fragment(text: str, of: Entity, heading: str = "", title: str = "Title") -> Fragment:
    """A fragment of an entity."""
    return Fragment(1, 1, of, 0, title, heading, text, {}, ())


def fact(**given: Any) -> Fact:
    """A fact that leads to an entity and has begun."""
    plain: dict[str, Any] = {
        "ns": 1, "namespace": "docs", "row_id": 1, "fact_id": 2, "subject_id": 7, "predicate": "owned_by", "object_id": 8,
        "value": None, "valid_from": START, "valid_to": None, "recorded_at": START, "retracted_at": None, "evidence": 3,
        "relevance_scopes": (),
    }  # fmt: skip
    return Fact(**{**plain, **given})
