"""The value that each field must have, computed by the oracle."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from typing import Any

from tests.contract import by_entity, lists, oracle, over_time, searching, typed, walks
from tests.contract.answers import Answered
from tests.contract.opaque import ANYTHING, OPAQUE, Page
from tests.contract.oracle import View, public_id
from tests.contract.pack_fields import PACK_FIELDS
from tests.contract.packs import Pack
from tests.contract.searching import Run
from tests.contract.trace_fields import TRACE_FIELDS
from tests.fixtures.company import CLOCK, Entity, Fact, Fragment, Source

TOOLS = {"AGENT": ["search", "graph", "sql"], "CHAT": ["search_knowledge"]}


EVIDENCE = {1: "INFERRED", 2: "OBSERVED", 3: "ASSERTED"}


def attributes(entity: Entity, asOf: str | None = None) -> dict[str, Any]:
    return lists.attributes_of(entity, datetime.fromisoformat(asOf) if asOf else CLOCK)


def read(view: View, fragment: Fragment, text: str) -> str:
    return str(view.text(fragment.entity.space, text))


def in_force(fact: Fact, asOf: str | None = None) -> bool:
    at = datetime.fromisoformat(asOf) if asOf else CLOCK
    began = fact.valid_from is None or fact.valid_from <= at
    return fact.retracted is None and began and (fact.valid_to is None or fact.valid_to > at)


def source_of(view: View, namespace: str, key: str) -> Source | None:
    entity = view.entity(namespace, key)
    return entity.source if entity else None


def page(entity: Entity | Source, first: int = 20) -> Page:
    return Page((entity.entity if isinstance(entity, Source) else entity).fragments, first)


def entities(view: View, first: int = 20, after: str | None = None, **given: Any) -> Page:
    items = lists.listed(view, **given)
    return Page(items, first, 0 if after is None else lists.start_of(view, after, given, items), after is not None)


def recall(view: View, question: str, budget: str = "MID", **rest: Any) -> Run:
    return Run(view, question, k={"LOW": 4, "MID": 8, "HIGH": 16}[budget], **rest)


SEARCH: dict[str, Callable[..., Any]] = {
    "neighbors": lambda v, run: run.neighbours,
    "sources": lambda v, run: run.sources,
    "context": lambda v, run: run.context,
    "degraded": lambda v, run: [],
}
TRACED: dict[str, Callable[..., Any]] = {"traceId": lambda v, _: ANYTHING, "trace": lambda v, _: ANYTHING}

FIELDS: dict[str, dict[str, Callable[..., Any]]] = {
    "Query": {
        "viewer": lambda v, _: v,
        "knowledge": lambda v, _, namespaces=None: v.named(namespaces),
        "search": lambda v, _, **given: Run(v, **given),
        "recall": lambda v, _, **given: recall(v, **given),
        "entities": lambda v, _, **given: entities(v, **given),
        "aggregate": lambda v, _, **given: lists.counted(v, **given),
        "graph": lambda v, _, **given: walks.walked(v, **given),
        "typedContext": lambda v, _, **given: typed.walked(v, **given),
        "contextPack": lambda v, _, **given: Pack(v, **given),
        "trace": lambda v, _, traceId: v.trace(traceId),
        "entity": lambda v, _, namespace, key: v.entity(namespace, key),
        "source": lambda v, _, namespace, key: source_of(v, namespace, key),
        "fact": lambda v, _, **given: over_time.by_id(v, **given),
        "node": lambda v, _, id: v.node(id),
        "nodes": lambda v, _, ids: [v.node(id) for id in ids],
    },
    "Viewer": {
        "principal": lambda v, _: v.me.name,
        "actingFor": lambda v, _: None,
        "groups": lambda v, _: sorted(one.name for one in v.world.principals if v.sees(one) and one is not v.me),
        "namespaces": lambda v, _: v.spaces,
    },
    "NamespaceAccess": {"name": lambda v, space: space.name, "roles": lambda v, space: v.roles(space)},
    "Knowledge": {
        "isEmpty": lambda v, spaces: not v.fragments(spaces),
        "namespaces": lambda v, spaces: spaces,
        "pendingEmbeddings": lambda v, spaces: sum(fragment.pending for fragment in v.fragments(spaces)),
        "tools": lambda v, spaces, surface="AGENT": TOOLS[surface] if v.fragments(spaces) else [],
    },
    "ToolDefinition": {
        "name": lambda v, name: name,
        "description": lambda v, name: OPAQUE,
        "parameters": lambda v, name: OPAQUE,
        "document": lambda v, name: OPAQUE,
    },
    "NamespaceSummary": {
        "name": lambda v, space: space.name,
        "title": lambda v, space: space.title,
        "entityCount": lambda v, space: len(v.entities([space])),
        "fragmentCount": lambda v, space: len(v.fragments([space])),
        "factCount": lambda v, space: sum(fact.retracted is None for fact in v.facts([space])),
    },
    "Search": SEARCH | TRACED | {
        "question": lambda v, run: run.question,
        "namespaces": lambda v, run: [space.name for space in run.spaces],
        "hits": lambda v, run: run.hits,
        "vector": lambda v, run: run.own("VECTOR"),
        "lexical": lambda v, run: run.own("LEXICAL"),
        "graph": lambda v, run: by_entity.own(run, "GRAPH"),
        "sql": lambda v, run: by_entity.own(run, "SQL"),
        "entities": lambda v, run: by_entity.fused(run),
        "answer": lambda v, run: Answered(run),
    },
    "Answer": {
        "text": lambda v, answer: answer.text,
        "status": lambda v, answer: answer.status,
        "citations": lambda v, answer: answer.citations,
        "removedCitations": lambda v, answer: answer.removed,
        "model": lambda v, answer: answer.model,
    },
    "Citation": {
        "marker": lambda v, one: one.marker,
        "start": lambda v, one: one.start,
        "end": lambda v, one: one.end,
        "fragment": lambda v, one: one.fragment,
        "card": lambda v, one: one.fragment.entity,
    },
    "Recall": SEARCH | {"memories": lambda v, run: run.fused, "count": lambda v, run: len(run.fused)},
    "FragmentHit": {
        "fragment": lambda v, hit: hit.fragment,
        "entity": lambda v, hit: hit.entity,
        "card": lambda v, hit: hit.entity,
        "score": lambda v, hit: hit.score,
        "rerankScore": lambda v, hit: hit.verdict,
        "signals": lambda v, hit: hit.signals,
        "highlights": lambda v, hit: searching.highlights(hit),
        "matchedIdentifiers": lambda v, hit: hit.run.matched(hit.fragment) if hit.fragment else [],
    },
    "EntityHit": {
        "entity": lambda v, hit: hit.entity,
        "evidence": lambda v, hit: hit.evidence,
        "score": lambda v, hit: hit.score,
        "signals": lambda v, hit: hit.signals,
    },
    "Signal": {
        "kind": lambda v, signal: signal.kind,
        "channel": lambda v, signal: signal.channel,
        "rank": lambda v, signal: signal.rank,
        "rawScore": lambda v, signal: signal.raw,
        "weight": lambda v, signal: signal.weight,
        "contribution": lambda v, signal: signal.contribution,
    },
    "Highlight": {
        "field": lambda v, place: place[0],
        "start": lambda v, place: place[1],
        "end": lambda v, place: place[2],
    },
    "Neighbor": {
        "entity": lambda v, one: one.entity,
        "hops": lambda v, one: one.hops,
        "via": lambda v, one: one.via,
    },
    "Subgraph": {
        "entities": lambda v, graph: graph.entities,
        "facts": lambda v, graph: graph.facts,
        "truncated": lambda v, graph: graph.truncated,
    },
    "TypedContext": TRACED | {
        "anchors": lambda v, walk: walk.anchors,
        "unresolved": lambda v, walk: walk.unresolved,
        "sections": lambda v, walk: walk.sections,
        "facts": lambda v, walk: walk.facts,
        "used": lambda v, walk: walk,
        "sources": lambda v, walk: walk.sources(v),
        "truncated": lambda v, walk: walk.truncated,
    },
    "ResolvedAnchor": {
        "kind": lambda v, anchor: anchor.kind,
        "value": lambda v, anchor: anchor.value,
        "entity": lambda v, anchor: anchor.entity,
        "resolvedBy": lambda v, anchor: "KEY",
        "evidence": lambda v, anchor: "ASSERTED",
    },
    "UnresolvedAnchor": {
        "kind": lambda v, anchor: anchor.kind,
        "value": lambda v, anchor: anchor.value,
        "reason": lambda v, anchor: anchor.reason,
    },
    "TypedSection": {"type": lambda v, section: section[0], "items": lambda v, section: section[1]},
    "TypedItem": {
        "entity": lambda v, item: item.entity,
        "attributes": lambda v, item: v.value(item.entity.space, item.version[1]) if item.version else {},
        "versionId": lambda v, item: OPAQUE,
        "validFrom": lambda v, item: item.version[0] if item.version else None,
        "validTo": lambda v, item: item.ends,
        "distance": lambda v, item: item.distance,
        "via": lambda v, item: item.via,
    },
    "UsedSet": {
        "entities": lambda v, walk: [public_id("e", one.entity.space, one.entity.id) for one in walk.items],
        "facts": lambda v, walk: [public_id("a", fact.subject.space, fact.fact) for fact in walk.facts],
        "versions": lambda v, walk: [OPAQUE for _ in walk.items],
    },
    "Degradation": {"part": lambda v, _: OPAQUE, "code": lambda v, _: OPAQUE, "message": lambda v, _: OPAQUE},
    "SourceCard": {
        "namespace": lambda v, entity: entity.space.name,
        "key": lambda v, entity: entity.key,
        "title": lambda v, entity: v.text(entity.space, entity.title),
        "sourcePath": lambda v, entity: v.text(entity.space, entity.path),
        "entity": lambda v, entity: entity,
        "source": lambda v, entity: entity.source,
    },
    "Entity": {
        "id": lambda v, entity: public_id("e", entity.space, entity.id),
        "namespace": lambda v, entity: entity.space.name,
        "key": lambda v, entity: entity.key,
        "kind": lambda v, entity: entity.kind,
        "type": lambda v, entity: entity.type,
        "title": lambda v, entity: v.text(entity.space, entity.title),
        "status": lambda v, entity: v.text(entity.space, entity.status),
        "sourcePath": lambda v, entity: v.text(entity.space, entity.path),
        "restricted": lambda v, entity: entity.acl != 0,
        "attributes": lambda v, entity, **given: v.value(entity.space, attributes(entity, **given)),
        "relevanceScopes": lambda v, entity: entity.scopes,
        "createdAt": lambda v, entity: entity.created,
        "updatedAt": lambda v, entity: entity.updated,
        "occurredAt": lambda v, entity: entity.occurred,
        "source": lambda v, entity: entity.source,
        "fragments": lambda v, entity, **given: page(entity, **given),
        "provenance": lambda v, entity: oracle.chain_of_entity(v, entity),
        "facts": lambda v, entity, first=20, **given: Page(over_time.around(v, entity, **given), first),
    },
    "Fragment": {
        "id": lambda v, fragment: public_id("f", fragment.entity.space, fragment.id),
        "namespace": lambda v, fragment: fragment.entity.space.name,
        "ordinal": lambda v, fragment: fragment.ordinal,
        "title": lambda v, fragment: read(v, fragment, fragment.title),
        "heading": lambda v, fragment: read(v, fragment, fragment.heading),
        "text": lambda v, fragment, neutralized=False: read(v, fragment, fragment.text),  # nothing needs neutralising
        "meta": lambda v, fragment: v.value(fragment.entity.space, fragment.meta),
        "identifiers": lambda v, fragment: fragment.identifiers,
        "tokenEstimate": lambda v, fragment: math.ceil(len(read(v, fragment, fragment.text)) / 3),
        "entity": lambda v, fragment: fragment.entity,
        "card": lambda v, fragment: fragment.entity,
        "provenance": lambda v, fragment: oracle.chain_of_fragment(v, fragment),
    },
    "Source": {
        "id": lambda v, source: public_id("s", source.entity.space, source.entity.id),
        "namespace": lambda v, source: source.entity.space.name,
        "key": lambda v, source: source.entity.key,
        "title": lambda v, source: v.text(source.entity.space, source.entity.title),
        "sourcePath": lambda v, source: v.text(source.entity.space, source.entity.path),
        "mediaType": lambda v, source: source.media_type,
        "content": lambda v, source: v.text(source.entity.space, source.content),
        "contentSource": lambda v, source: source.content_source,
        "fragmentCount": lambda v, source: len(source.entity.fragments),
        "personalData": lambda v, source: sorted(source.personal_data.items()),
        "provenance": lambda v, source: [oracle.origin(v, source)],
        "entity": lambda v, source: source.entity,
        "fragments": lambda v, source, **given: page(source, **given),
        "statedFacts": lambda v, source, first=20: Page(over_time.stated(v, source), first),
    },
    "PersonalDataFinding": {"kind": lambda v, one: one[0], "count": lambda v, one: one[1]},
    "Fact": {
        "factId": lambda v, fact: public_id("a", fact.subject.space, fact.fact),
        "namespace": lambda v, fact: fact.subject.space.name,
        "subject": lambda v, fact: fact.subject,
        "predicate": lambda v, fact: fact.predicate,
        "object": lambda v, fact: fact.object,
        "value": lambda v, fact: v.value(fact.subject.space, fact.value),
        "validFrom": lambda v, fact: fact.valid_from,
        "validTo": lambda v, fact: fact.valid_to,
        "recordedAt": lambda v, fact: fact.recorded,
        "retractedAt": lambda v, fact: fact.retracted,
        "evidence": lambda v, fact: EVIDENCE[fact.evidence],
        "relevanceScopes": lambda v, fact: fact.scopes,
        "inForce": lambda v, fact, **given: in_force(fact, **given),
        "conflict": lambda v, fact, **given: over_time.conflicts(v, fact, **given) != [],
        "conflictsWith": lambda v, fact, **given: over_time.conflicts(v, fact, **given),
        "provenance": lambda v, fact: oracle.chain_of_fact(v, fact),
    },
    "ProvenanceStep": {
        "kind": lambda v, step: step.kind,
        "label": lambda v, step: step.label,
        "namespace": lambda v, step: step.space.name if step.space else None,
        "key": lambda v, step: step.key,
        "at": lambda v, step: step.at,
        "by": lambda v, step: step.by,
        "uri": lambda v, step: step.uri,
        "sha256": lambda v, step: step.sha256,
        "node": lambda v, step: step.node,
    },
    "FragmentConnection": {
        "edges": lambda v, page: page.shown,
        "nodes": lambda v, page: page.shown,
        "pageInfo": lambda v, page: page,
        "totalCount": lambda v, page: len(page.items),
    },
    "FragmentEdge": {"cursor": lambda v, fragment: OPAQUE, "node": lambda v, fragment: fragment},
    "FactConnection": {
        "edges": lambda v, page: page.shown,
        "nodes": lambda v, page: page.shown,
        "pageInfo": lambda v, page: page,
        "totalCount": lambda v, page: len(page.items),
    },
    "FactEdge": {"cursor": lambda v, fact: OPAQUE, "node": lambda v, fact: fact},
    "EntityConnection": {
        "edges": lambda v, page: page.shown,
        "nodes": lambda v, page: page.shown,
        "pageInfo": lambda v, page: page,
        "totalCount": lambda v, page: len(page.items),
    },
    "EntityEdge": {"cursor": lambda v, entity: OPAQUE, "node": lambda v, entity: entity},
    "Aggregate": {
        "total": lambda v, buckets: sum(bucket.count for bucket in buckets),
        "buckets": lambda v, buckets: buckets,
    },
    "Bucket": {"values": lambda v, bucket: bucket.values, "count": lambda v, bucket: bucket.count},
    "BucketValue": {"dimension": lambda v, pair: pair[0], "value": lambda v, pair: pair[1]},
    "PageInfo": {
        "hasNextPage": lambda v, page: len(page.items) > page.start + page.first,
        "hasPreviousPage": lambda v, page: page.is_later,
        "startCursor": lambda v, page: OPAQUE if page.shown else None,
        "endCursor": lambda v, page: OPAQUE if page.shown else None,
    },
    **PACK_FIELDS,
    **TRACE_FIELDS,
}  # fmt: skip

ELSEWHERE = {
    **{
        f"Mutation.{name}": "test_hidden.py"
        for name in (
            "createNamespace", "deleteNamespace", "ingestSources", "deleteSource", "deleteEntity", "upsertPrincipals",
            "setMembers", "grant", "revoke", "createToken", "revokeToken", "assertFacts", "retractFacts",
            "upsertEntities", "recordObservations", "applyDomainPack",
        )
    },
    **{f"ItemResult.{name}": "what the caller sent" for name in ("key", "outcome", "code", "message")},
    **{f"DeletedPayload.{name}": "test_hidden.py" for name in ("deleted", "counts")},
    **{f"TokenPayload.{name}": "for administrators" for name in ("token", "tokenId")},
    **{f"IngestSourcesPayload.{name}": "test_hidden.py" for name in ("results", "pendingEmbeddings")},
    **{f"FactResult.{name}": "for writers, who read all" for name in ("factId", "outcome", "conflictsWith", "code", "message")},
    "FactsPayload.results": "for writers, who read all",
    "ItemsPayload.results": "what the caller sent",
    **{f"DomainPackPayload.{name}": "what the caller sent" for name in ("name", "version", "changed")},
    "NamespacePayload.namespace": "for administrators",
    "Subscription.ingestion": "test_hidden.py",
    **dict.fromkeys(
        ("Subscription.answer", "AnswerFound.hits", "AnswerFound.sources", "AnswerDelta.text", "AnswerDone.answer"),
        "test_streaming.py, which holds them against a search",
    ),
    **{f"IngestionProgress.{name}": "test_hidden.py" for name in ("namespace", "fragments", "pendingEmbeddings")},
}  # fmt: skip
"""Fields that are reached by writing and following, each with where it is held against the rule."""
