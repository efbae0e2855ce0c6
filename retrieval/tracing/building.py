"""Builds the trace of a run out of what the run holds; every stage that it awaits is a stage of the run."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from retrieval.compilation.choosing import ORDER, Decided
from retrieval.compilation.choosing import Candidate as PackCandidate
from retrieval.compilation.item import ChannelList, Item, ItemKind
from retrieval.compilation.scoring import weight_of
from retrieval.lists import SEARCHED
from retrieval.prompt import language_of
from retrieval.question import Locale
from retrieval.ranking import Candidate, Channel, Ranking
from retrieval.reranking.pool import Placed
from retrieval.search import Search
from retrieval.stage import both
from retrieval.tracing.record import BudgetTrace, CandidateTrace, ChannelTrace, Operation, Outcome, Place, TraceRecord
from retrieval.tracing.requests import request_of_pack, request_of_search, request_of_walk
from retrieval.tracing.stages import MILLISECONDS, seconds_of
from retrieval.typed.context import TypedContext

if TYPE_CHECKING:
    from retrieval.access import Space
    from retrieval.compilation.compilation import Compilation
    from retrieval.compilation.question import PackQuestion
    from retrieval.session import Session
    from retrieval.tuning import Tuning

ID_BYTES = 18
"""Of randomness in an id; as text 24 letters."""


def new_trace_id() -> str:
    """An id that nobody guesses."""
    return f"ctx-{secrets.token_urlsafe(ID_BYTES)}"


async def head(
    session: Session, spaces: Sequence[Space], operation: Operation, request: Mapping[str, Any], locale: Locale = "AUTO"
) -> TraceRecord:
    """A trace of which only the head is there: whose it is, and what was asked."""
    caller = await session.caller
    return TraceRecord(
        trace_id=new_trace_id(),
        principal_id=caller.principal_id,
        made_by=caller.name,
        issuer=caller.issuer if caller.principal_id == 0 else None,
        namespaces=tuple(sorted(space.ns for space in spaces)),
        created_at=await session.now(),
        operation=operation,
        language=language_of(request.get("question", ""), locale, session.store.tuning),
        k=request.get("k"),
        request=request,
    )


async def trace_of_search(run: Search) -> TraceRecord:
    """The trace of a search: its hits and its entities."""
    await both(run.hits, run.entities)
    asked, lists = run.question, run.lists
    began = await head(run.session, run.spaces, Operation.SEARCH, request_of_search(asked), asked.locale)
    rankings, weights = await lists.to_fuse(*SEARCHED), await lists.weights()
    placed, (entities, _) = await run.reranking.placed(), await run.fused_entities()
    return replace(
        began,
        channels=tuple(
            channel_of_search(ranking, weights[channel], seconds_of(vars(lists), f"{channel.lower()}_pool", "together"))
            for channel, ranking in rankings.items()
        ),
        candidates=each_once([*hits_of(placed, asked.k), *judged(entities, ItemKind.ENTITY, asked.k)]),
    )


def channel_of_search(ranking: Ranking, weight: float, seconds: float) -> ChannelTrace:
    """A list of a search."""
    is_text = ranking.channel in (Channel.VECTOR, Channel.LEXICAL)
    kind = ItemKind.FRAGMENT if is_text else ItemKind.ENTITY
    places = tuple(Place(Item(kind, hit.ns, hit.item_id), hit.entity_id, rank) for rank, hit in enumerate(ranking.hits))
    return ChannelTrace(ranking.channel, weight, ranking.asked, ranking.exact, MILLISECONDS * seconds, places)


def judged(candidates: Iterable[Candidate], kind: ItemKind, k: int) -> list[CandidateTrace]:
    """The candidates of one list of a search, of which the first k are in it."""
    return [
        CandidateTrace(
            Item(kind, one.hit.ns, one.hit.item_id),
            one.hit.entity_id,
            one.score,
            one.signals,
            Outcome.INCLUDED if place < k else Outcome.OUTRANKED,
        )
        for place, one in enumerate(candidates)
    ]


def hits_of(placed: Sequence[Placed], k: int) -> list[CandidateTrace]:
    """The candidates of the hits; one that a rerank judged by its title alone is an entity."""
    found = []
    for place, one in enumerate(placed):
        is_entity = one.judged is not None and one.judged.fragment is None
        (made,) = judged([one.candidate], ItemKind.ENTITY if is_entity else ItemKind.FRAGMENT, 1)
        found.append(made if place < k else replace(made, outcome=Outcome.OUTRANKED))
    return found


def each_once(candidates: Iterable[CandidateTrace]) -> tuple[CandidateTrace, ...]:
    """Each item once: an entity may be among the hits and in its own list; what is in the answer tells."""
    best: dict[Item, CandidateTrace] = {}
    for one in candidates:
        known = best.get(one.item)
        if known is None or (known.outcome is not Outcome.INCLUDED and one.outcome is Outcome.INCLUDED):
            best[one.item] = one
    return tuple(best.values())


async def trace_of_walk(run: TypedContext) -> TraceRecord:
    """The trace of a typed walk: what it came to, which nothing ranks."""
    used = await run.used
    began = await head(run.session, run.spaces, Operation.TYPED_CONTEXT, request_of_walk(run.asked))
    entities = [(Item(ItemKind.ENTITY, one.entity.ns, one.entity.entity_id), one.entity.entity_id) for one in used.items]
    facts = [(Item(ItemKind.FACT, one.ns, one.fact_id), one.subject_id) for one in used.facts]
    return replace(began, candidates=tuple(CandidateTrace(*place, 0.0, (), Outcome.INCLUDED) for place in (*entities, *facts)))


async def trace_of_pack(run: Compilation) -> TraceRecord:
    """The trace of a pack: the whole compilation."""
    decided, ranked = await both(run.decided, run.channels.ranked)
    asked, tuning = run.asked, run.session.store.tuning
    began = await head(run.session, run.spaces, Operation.CONTEXT_PACK, request_of_pack(asked), asked.locale)
    return replace(
        began,
        ephemeral_size=0 if asked.current is None else len(asked.current.encode()),
        channels=tuple(channel_of_pack(tuning, one) for one in ranked.lists.values()),
        candidates=tuple(decisions(decided)),
        budget=budget_of(asked, decided),
    )


def channel_of_pack(tuning: Tuning, found: ChannelList) -> ChannelTrace:
    """A list of a pack."""
    places = tuple(Place(hit.item, hit.entity_id, rank) for rank, hit in enumerate(found.hits))
    weight = weight_of(tuning, found.channel)
    return ChannelTrace(found.channel, weight, found.asked, found.exact, MILLISECONDS * found.seconds, places)


def decisions(decided: Decided) -> list[CandidateTrace]:
    """Every candidate of a pack in the order in which they were tried."""
    judged = [candidate_of_pack(one, Outcome.INCLUDED) for one in decided.entered]
    judged += [candidate_of_pack(one.candidate, Outcome(one.reason.value)) for one in decided.dropped]
    return sorted(judged, key=lambda one: (-one.score, ORDER[one.item.kind], one.item.ns, one.item.id))


def candidate_of_pack(one: PackCandidate, outcome: Outcome) -> CandidateTrace:
    """A candidate without its text."""
    return CandidateTrace(one.item, one.entity_id, one.score, one.signals, outcome, one.price)


def budget_of(asked: PackQuestion, decided: Decided) -> BudgetTrace:
    """The budget without texts."""
    current = decided.current
    return BudgetTrace(
        asked.max_tokens,
        None if current is None else current.price,
        current is not None and current.is_cut,
        tuple(one.candidate.item for one in decided.dropped),
    )
