"""What a search gives: each field runs its own part of the work, and only when it is selected."""

from __future__ import annotations

import strawberry

from resolvers import search as resolve
from schema.answer import Answer
from schema.entity import Entity, Fact, Fragment, SourceCard, field
from schema.enums import Channel, SignalKind, TextField
from schema.traced import LazyTrace, trace_field, trace_id_field

SCORES = (
    "The sum of the contributions of `signals`, left to right. For order only: the best possible RRF score of two lists is "
    "2/61 ≈ 0.033; `rerankScore` is for thresholds."
)


@strawberry.type(description="One term of a score.")
class Signal:
    kind: SignalKind = field("What the term stands for.")
    channel: Channel | None = field("The channel it comes from.")
    rank: int | None = field("The place in that channel's list, from 0.")
    raw_score: float | None = field(
        "The channel's own score: 1 - cosine distance, BM25, 1 / steps away, 1 for sql, or of recent observations the instant in "
        "seconds since 1970. Of EVIDENCE its rank, 1 to 3; of FRESHNESS the age in hours; of RERANK the rerank score."
    )
    weight: float | None = field(
        "The weight of the channel, of which ADAPTIVE gives each hit a part by its score; or of what the term stands for."
    )
    contribution: float = field("What the term adds to the score.")


@strawberry.type(description="A word of the question where it stands in a fragment; offsets count UTF-16 code units.")
class Highlight:
    field: TextField = field("The field it stands in.")
    start: int = strawberry.field(description="Offset of its first unit.")
    end: int = strawberry.field(description="Offset after its last unit.")


@strawberry.type(description="A fragment that was found.")
class FragmentHit:
    fragment: Fragment | None = field("The fragment; null for an entity without text that a rerank lifted by its title.")
    entity: Entity = field("The entity it belongs to.")
    card: SourceCard = field("What an interface shows as the source.")
    score: float = field(SCORES + " In `vector` and `lexical` it is the raw score.")
    rerank_score: float | None = field(
        "What a chat model made of it, 0 to 1, with `rerank: true`: the number to hold against a threshold of confidence. Null "
        "in `vector` and `lexical`, without a rerank, and for hits that were not judged, which stand behind."
    )
    signals: list[Signal] = field("The terms of the score.")
    highlights: list[Highlight] = field("Where the words of the question stand.", resolver=resolve.highlights)
    matched_identifiers: list[str] = field("Identifiers of the question that the fragment carries.")


@strawberry.type(description="An entity that was found.")
class EntityHit:
    entity: Entity = field("The entity.")
    evidence: Fragment | None = field(
        "Its best fragment: of vector or lexical, where the entity stands higher; null where no fragment was ranked.",
        resolver=resolve.evidence,
    )
    score: float = field(
        "The sum of the contributions of `signals`, left to right. For order only. In `graph` and `sql` it is the raw score: "
        "1 / steps away, and 1."
    )
    signals: list[Signal] = field("The terms of the score.")


@strawberry.type(description="An entity around the hits.")
class Neighbor:
    entity: Entity = field("The entity.")
    hops: int = field("How many steps away it is.")
    via: list[Fact] = field("The facts that were walked to reach it.", resolver=resolve.via)


@strawberry.type(description="A helper that did not help; the rest of the answer stands.")
class Degradation:
    part: str = field("The helper: `embedding` or `rerank`.")
    code: str = field("A stable code, such as PROVIDER_UNAVAILABLE.")
    message: str = field("A sentence for people.")


@strawberry.type(description="One question over some namespaces; select what you need, and only that is done.")
class Search:
    question: str = field("The question, in composed form.", resolver=resolve.question)
    namespaces: list[str] = field("The namespaces that are searched.", resolver=resolve.namespaces)
    hits: list[FragmentHit] | None = field(
        "The best k fragments of vector and lexical, fused; with `rerank` in its order, neighbours among them."
    )
    entities: list[EntityHit] | None = field("The best k entities of vector, lexical, graph and sql, fused by entity.")
    vector: list[FragmentHit] | None = field("The best k fragments by meaning.")
    lexical: list[FragmentHit] | None = field("The best k fragments by words and identifiers.")
    graph: list[EntityHit] | None = field(
        "The first k entities around those of the first k hits and of the first k of `sql`, nearest first."
    )
    sql: list[EntityHit] | None = field("The first k entities that meet `entityFilter`, newest change first; empty without one.")
    neighbors: list[Neighbor] | None = field("Entities around those of the hits, nearest first; at most 40.")
    sources: list[SourceCard] | None = field("Cards of the hits, then of the neighbours, each key once.")
    context: str | None = field("Hits and neighbours as text for a prompt, neutralised.")
    answer: Answer | None = field(
        "What a chat model makes of `context`; only selecting it calls the model. At most one in a request."
    )
    degraded: list[Degradation] | None = field("Helpers that did not help; selecting this runs them.")
    trace_id: strawberry.ID | None = trace_id_field()
    trace: LazyTrace | None = trace_field()


@strawberry.type(description="A search whose size is a budget; never asks a chat model.")
class Recall:
    memories: list[FragmentHit] = field("The best fragments: 4, 8 or 16.", resolver=resolve.memories)
    sources: list[SourceCard] | None = field("Cards of the memories, then of the neighbours, each key once.")
    neighbors: list[Neighbor] | None = field("Entities around the memories.")
    context: str | None = field("Memories and neighbours as text for a prompt, neutralised.")
    count: int = field("How many memories there are.", resolver=resolve.count)
    degraded: list[Degradation] | None = field("Helpers that did not help; selecting this runs them.")
