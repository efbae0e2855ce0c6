"""What was asked, as a trace keeps it and as it is asked again: no filter and no ephemeral context is in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from retrieval.compilation.question import PackQuestion, Strategy
from retrieval.personal.masking import masked_value
from retrieval.question import Question
from retrieval.subgraph import EntityRef
from retrieval.typed.question import TypedQuestion

WRITTEN = frozenset({"question", "anchors", "relevanceScopes", "allowedScopes", "subject", "traverse"})
"""The arguments with text of the caller's own."""


def request_of_search(asked: Question) -> dict[str, Any]:
    """The arguments of a search; of filters only that there were some."""
    return {
        "question": asked.text,
        "namespaces": listed(asked.namespaces),
        "k": asked.k,
        "hops": asked.hops,
        "channels": sorted(channel.value for channel in asked.channels),
        "fusion": asked.fusion.value,
        "filtered": asked.filter != type(asked.filter)() or asked.entity_filter != type(asked.entity_filter)(),
        "asOf": written(asked.as_of),
        "locale": asked.locale,
        "rerank": asked.rerank,
    }


def request_of_walk(asked: TypedQuestion) -> dict[str, Any]:
    """The arguments of a typed walk."""
    return {
        "namespaces": listed(asked.namespaces),
        "anchors": [{"namespace": one.namespace, "key": one.value, "kind": one.kind} for one in asked.anchors],
        "traverse": [
            {
                "relation": one.relation, "direction": one.direction.value, "depth": one.depth, "limit": one.limit,
                "from": one.origin.value,
            }
            for one in asked.steps
        ],
        "asOf": written(asked.as_of),
        "allowSemantic": asked.allow_semantic,
    }  # fmt: skip


def request_of_pack(asked: PackQuestion) -> dict[str, Any]:
    """The arguments of a pack."""
    return {
        "question": asked.text,
        "namespaces": listed(asked.namespaces),
        "relevanceScopes": list(asked.relevance_scopes),
        "allowedScopes": listed(asked.allowed_scopes),
        "anchors": [{"namespace": one.namespace, "key": one.key} for one in asked.anchors],
        "subject": asked.subject,
        "maxTokens": asked.max_tokens,
        "strategy": asked.strategy.value,
        "asOf": written(asked.as_of),
        "knownAt": written(asked.known_at),
        "k": asked.k,
        "locale": asked.locale,
    }


def masked_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with personal data masked in what a caller wrote; namespaces, numbers and instants as they are."""
    return {name: masked_value(value) if name in WRITTEN else value for name, value in request.items()}


def pack_of(request: Mapping[str, Any]) -> PackQuestion:
    """The pack of a request, as it was checked when it was asked, without the ephemeral context."""
    namespaces, allowed = request["namespaces"], request["allowedScopes"]
    return PackQuestion(
        text=request["question"],
        namespaces=None if namespaces is None else tuple(namespaces),
        max_tokens=request["maxTokens"],
        relevance_scopes=tuple(request["relevanceScopes"]),
        allowed_scopes=None if allowed is None else tuple(allowed),
        anchors=tuple(EntityRef(one["namespace"], one["key"]) for one in request["anchors"]),
        subject=request["subject"],
        strategy=Strategy(request["strategy"]),
        as_of=instant(request["asOf"]),
        known_at=instant(request["knownAt"]),
        k=request["k"],
        locale=request["locale"],
    )


def listed(values: tuple[str, ...] | None) -> list[str] | None:
    """A list, or what stands for one that was left out."""
    return None if values is None else list(values)


def written(at: datetime | None) -> str | None:
    """An instant as text."""
    return None if at is None else at.isoformat()


def instant(text: str | None) -> datetime | None:
    """An instant out of its text."""
    return None if text is None else datetime.fromisoformat(text)
