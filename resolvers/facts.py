"""What fields about facts over time do: pages of facts, single facts, conflicts, and the mutations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import strawberry

from resolvers.arguments import AsOf, First, Info, page_size
from resolvers.entity import After, Edge, PageInfo, page_info
from retrieval import records
from retrieval.cursor import make_cursor, read_cursor
from retrieval.errors import BadInput
from retrieval.facts import Doubt, FactPage, FactQuestion, Known, StatedPage
from retrieval.ingest import facts as writing
from retrieval.ingest.fact_input import FactInput
from retrieval.keys import read_id
from retrieval.outcomes import FactResult
from retrieval.primitives.graph import Direction
from retrieval.question import check_instant, check_values

KnownAt = Annotated[
    datetime | None,
    strawberry.argument(description="Instant of the record: what had been recorded and not retracted then; null is now."),
]


@dataclass(frozen=True, slots=True, eq=False)
class FactConnection:
    """A page of facts: of those around an entity, or of those that it states."""

    question: FactQuestion | tuple[int, int]
    edges: Sequence[Edge[records.Fact]]
    page_info: PageInfo

    @property
    def nodes(self) -> list[records.Fact]:
        """The facts."""
        return [edge.node for edge in self.edges]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of each fact."""

    results: Sequence[FactResult]


async def facts(
    root: records.Entity, info: Info, predicates: Sequence[str] | None, direction: str, as_of: datetime | None,
    known_at: datetime | None, first: int, after: str | None,
) -> FactConnection:  # fmt: skip
    """A page of the facts around an entity."""
    size, tuning = page_size(info, first), info.context.store.tuning
    names = None if predicates is None else check_values("predicates", predicates, tuning.filter_values_most)
    at, known = await instants(info, as_of, known_at)
    question = FactQuestion(root.ns, root.entity_id, names, Direction(direction), at, known)
    secret, scope = await signing(info, "facts", root.ns, root.entity_id, names, direction, text_of(as_of), text_of(known_at))
    position = None if after is None else read_cursor(secret, scope, after)
    start = None if position is None else (str(position[0]), int(position[1]))
    found = await (await info.context.catalogue()).time.pages.one(FactPage(question, start, size + 1)) or []
    edges = [Edge(make_cursor(secret, scope, [fact.predicate, fact.fact_id]), fact) for fact in found[:size]]
    return FactConnection(question, edges, page_info(edges, len(found) > size, after))


async def stated_facts(root: records.Source, info: Info, first: First = 20, after: After = None) -> FactConnection:
    """A page of the facts that were stated in a source."""
    size, entity = page_size(info, first), root.entity
    secret, scope = await signing(info, "statedFacts", entity.ns, entity.entity_id)
    start = 0 if after is None else int(read_cursor(secret, scope, after)[0])
    asked = StatedPage(entity.ns, entity.entity_id, start, size + 1)
    found = await (await info.context.catalogue()).time.stated.one(asked) or []
    edges = [Edge(make_cursor(secret, scope, [fact.fact_id]), fact) for fact in found[:size]]
    return FactConnection((entity.ns, entity.entity_id), edges, page_info(edges, len(found) > size, after))


async def facts_counted(root: FactConnection, info: Info) -> int:
    """How many facts are on all pages, counted only when it is asked."""
    loaders = (await info.context.catalogue()).time
    if isinstance(root.question, FactQuestion):
        return await loaders.counts.one(root.question) or 0
    return await loaders.stated_counts.one(root.question) or 0


async def fact(info: Info, namespace: str, fact_id: str, known_at: datetime | None) -> records.Fact | None:
    """The fact of an id as it was recorded at an instant; None where there is none that the caller may see."""
    kind, ns, number = read_id(fact_id)
    if kind != "fact":
        raise BadInput("`factId` is the id of something else; give one that `Fact.factId` gave.")
    _, known = await instants(info, None, known_at)
    (space,) = await info.context.spaces([namespace])
    if space.ns != ns:
        return None
    return await (await info.context.catalogue()).time.known.one(Known(ns, number, known))


async def conflicts_with(root: records.Fact, info: Info, as_of: AsOf = None, known_at: KnownAt = None) -> list[records.Fact]:
    """The facts that a fact is in conflict with."""
    at, known = await instants(info, as_of, known_at)
    doubt = Doubt(root.ns, root.row_id, root.subject_id, root.predicate, at, known)
    return await (await info.context.catalogue()).time.conflicts.one(doubt) or []


async def conflict(root: records.Fact, info: Info, as_of: AsOf = None, known_at: KnownAt = None) -> bool:
    """Whether a fact is in conflict with another."""
    return bool(await conflicts_with(root, info, as_of, known_at))


async def instants(info: Info, as_of: datetime | None, known_at: datetime | None) -> tuple[datetime, datetime | None]:
    """The instant of validity, and that of the record or None for now."""
    at = await info.context.now() if as_of is None else check_instant("asOf", as_of)
    return at, None if known_at is None else check_instant("knownAt", known_at)


async def signing(info: Info, *scope: Any) -> tuple[bytes, list[Any]]:
    """What cursors of a page are signed with: the secret of the base, and caller, field and arguments."""
    caller = await info.context.caller
    return info.context.store.base.cursor_secret, [caller.name, *scope]


def text_of(instant: datetime | None) -> str | None:
    """An instant in the scope of a cursor."""
    return None if instant is None else check_instant("asOf", instant).isoformat()


async def assert_facts(info: Info, namespace: str, given: Sequence[Any], idempotency_key: str | None) -> Written:
    """Assert facts; a result for each."""
    values = [fact_value(one) for one in given]
    caller = await info.context.caller
    results = await writing.assert_facts(info.context.store.database, caller, namespace, values, idempotency_key)
    info.context.touched.add(namespace)
    return Written(results)


async def retract_facts(info: Info, namespace: str, fact_ids: Sequence[str]) -> Written:
    """Retract facts; a result for each."""
    caller = await info.context.caller
    results = await writing.retract_facts(info.context.store.database, caller, namespace, [str(one) for one in fact_ids])
    info.context.touched.add(namespace)
    return Written(results)


def fact_value(given: Any) -> FactInput:
    """A fact of the API as the value that is stored; its limits are checked there, so that one bad fact stops no other."""
    return FactInput(
        subject=given.subject,
        predicate=given.predicate,
        object=given.object,
        value=given.value,
        valid_from=given.valid_from,
        valid_to=given.valid_to,
        evidence=None if given.evidence is None else records.EVIDENCE[given.evidence.name],
        relevance_scopes=given.relevance_scopes,
        stated_in=given.stated_in,
        supersede=given.supersede,
        fact_id=None if given.fact_id is None else str(given.fact_id),
    )
