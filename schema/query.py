"""The questions that can be asked."""

from __future__ import annotations

from typing import Annotated

import strawberry

from resolvers import facts as resolve_facts
from resolvers import pack as resolve_pack
from resolvers import query as resolve
from resolvers import trace as resolve_trace
from resolvers.arguments import AsOf, First, Info, Namespaces
from resolvers.entity import After
from retrieval import records
from retrieval.access import Caller
from retrieval.compilation.compilation import Compilation
from retrieval.compilation.question import make_pack_question
from retrieval.counting import Counting
from retrieval.knowledge import Knowledge as KnowledgeRun
from retrieval.listing import Listing
from retrieval.question import Question, make_question
from retrieval.search import Search as SearchRun
from retrieval.subgraph import Subgraph as SubgraphRun
from retrieval.subgraph import make_graph_question
from retrieval.tracing.reading import ShownTrace
from retrieval.typed.context import TypedContext as TypedRun
from retrieval.typed.question import make_typed_question
from schema.aggregate import Aggregate
from schema.entity import Entity, EntityConnection, Fact, Node
from schema.enums import DateField, Dimension, Direction, EntityOrder, Locale, Metric, Primitive, RecallBudget, Strategy
from schema.graph import EntityRef, Subgraph
from schema.inputs import EntityFilter, FragmentFilter, FusionInput
from schema.knowledge import Knowledge, Viewer
from schema.pack import ContextPack, SubjectInput
from schema.scalars import JSON
from schema.search import Recall, Search
from schema.source import Source
from schema.trace import Trace
from schema.typed import TraverseStep, TypedAnchorInput, TypedContext

QuestionText = Annotated[str, strawberry.argument(description="What you are looking for, up to 10,000 characters.")]
K = Annotated[int, strawberry.argument(description="How many results, 1 to 50.")]
Hops = Annotated[int, strawberry.argument(description="How far neighbours may be, 1 or 2 steps.")]
Filter = Annotated[FragmentFilter | None, strawberry.argument(description="Narrows vector and lexical.")]
ForSql = Annotated[EntityFilter | None, strawberry.argument(description="Which entities `sql` lists.")]
Which = Annotated[EntityFilter | None, strawberry.argument(description="Which entities; left out: all that you may see.")]
OrderBy = Annotated[EntityOrder, strawberry.argument(description="What they are ordered by.")]
Counted = Annotated[Metric, strawberry.argument(description="What is counted.")]
Dimensions = Annotated[
    list[Dimension], strawberry.argument(description="What it is grouped by: up to two, at most one period; none: no groups.")
]
Dated = Annotated[DateField, strawberry.argument(description="Which instant periods are taken from.")]
Channels = Annotated[list[Primitive] | None, strawberry.argument(description="Channels to fuse; left out: all.")]
Fusion = Annotated[FusionInput | None, strawberry.argument(description="How the lists become one.")]
Reranked = Annotated[
    bool | None,
    strawberry.argument(
        description="Whether a chat model orders the hits and gives `rerankScore`; null is CB_RERANK_ENABLED. It runs when hits, "
        "sources, context, answer, degraded or trace is selected. At most one search of a request."
    ),
]
InLocale = Annotated[Locale, strawberry.argument(description="Language of the fixed texts in `context`.")]
Budget = Annotated[RecallBudget, strawberry.argument(description="How much to bring back.")]
Start = Annotated[list[EntityRef], strawberry.argument(description="Where to start, up to 20; what is not there is left out.")]
GraphHops = Annotated[int, strawberry.argument(description="How far to go, 1 to 3 steps.")]
Predicates = Annotated[list[str] | None, strawberry.argument(description="Predicates to follow; left out: all.")]
Way = Annotated[Direction, strawberry.argument(description="Which way to follow facts.")]
Limit = Annotated[int, strawberry.argument(description="How many entities at most, 1 to 200.")]
Anchors = Annotated[list[TypedAnchorInput], strawberry.argument(description="Where to start, up to 20.")]
Traverse = Annotated[list[TraverseStep], strawberry.argument(description="The steps in their order, up to 10.")]
Semantic = Annotated[
    bool, strawberry.argument(description="Whether an anchor that nothing else resolves is looked for by meaning.")
]
PackText = Annotated[str, strawberry.argument(description="What the pack is for, up to 10,000 characters; may be empty.")]
PackScopes = Annotated[
    list[str],
    strawberry.argument(description="Relevance scopes `type:id`, up to 10: items that share one, plus items that have none."),
]
Allowed = Annotated[
    list[str] | None,
    strawberry.argument(description="Items that carry relevance scopes, none of them listed here, are left out; null: none is."),
]
PackAnchors = Annotated[
    list[EntityRef], strawberry.argument(description="Where facts and the walk start, up to 20; what is not there is left out.")
]
PackSubject = Annotated[
    SubjectInput | None, strawberry.argument(description="For whom: one more anchor and relevance scope, `type:id`.")
]
Ephemeral = Annotated[
    JSON | None,
    strawberry.argument(
        description="The caller's own state, an object up to 256 KB and 64 levels: becomes section CURRENT, is never stored."
    ),
]
MaxTokens = Annotated[
    int | None,
    strawberry.argument(description="Budget in tokens, 1 to 1,000,000; left out: CB_CONTEXT_DEFAULT_MAX_TOKENS (8,000)."),
]
PackStrategy = Annotated[Strategy, strawberry.argument(description="Which channels run.")]
PackSize = Annotated[int, strawberry.argument(description="How many items each channel admits, 1 to 100.")]
HeadingsIn = Annotated[Locale, strawberry.argument(description="Language of the headings in `text`.")]
InNamespace = Annotated[str, strawberry.argument(description="The namespace.")]
Key = Annotated[str, strawberry.argument(description="The key of the entity.")]
FactId = Annotated[strawberry.ID, strawberry.argument(description="An id that `Fact.factId` gave.")]
TraceId = Annotated[strawberry.ID, strawberry.argument(description="An id that `traceId` gave.")]
NodeId = Annotated[strawberry.ID, strawberry.argument(description="An id that an answer gave.")]
NodeIds = Annotated[list[strawberry.ID], strawberry.argument(description="Ids that answers gave, 1 to 100.")]


@strawberry.type(description="Everything that can be read.")
class Query:
    @strawberry.field(description="Who is asking, and what is open to that caller.", graphql_type=Viewer | None)
    async def viewer(self, info: Info) -> Caller:
        return await info.context.caller

    @strawberry.field(description="What the knowledge bases hold.", graphql_type=Knowledge | None)
    async def knowledge(self, info: Info, namespaces: Namespaces = None) -> KnowledgeRun:
        return await info.context.knowledge(namespaces)

    @strawberry.field(
        description="Find fragments for a question, by meaning and by words, and what is around them.",
        graphql_type=Search | None,
    )
    async def search(
        self,
        info: Info,
        question: QuestionText,
        namespaces: Namespaces = None,
        k: K = 8,
        hops: Hops = 1,
        filter: Filter = None,
        entity_filter: ForSql = None,
        channels: Channels = None,
        fusion: Fusion = None,
        rerank: Reranked = None,
        as_of: AsOf = None,
        locale: InLocale = Locale.AUTO,
    ) -> SearchRun:
        tuning = info.context.store.tuning
        method, weights = (None, None) if fusion is None else fusion.values()
        asked = make_question(
            tuning,
            question,
            namespaces=namespaces,
            k=k,
            hops=hops,
            filter=None if filter is None else filter.value(tuning),
            entity_filter=None if entity_filter is None else entity_filter.value(tuning, "entityFilter"),
            channels=resolve.channels(None if channels is None else [channel.name for channel in channels]),
            fusion=method,
            weights=weights,
            as_of=as_of,
            locale=resolve.locale_named(locale.name),
            rerank=tuning.rerank if rerank is None else rerank,
        )
        return await info.context.search(asked)

    @strawberry.field(
        description="A search whose size is a budget, for prompters and other fast paths.", graphql_type=Recall | None
    )
    async def recall(
        self,
        info: Info,
        question: QuestionText,
        namespaces: Namespaces = None,
        budget: Budget = RecallBudget.MID,
        filter: Filter = None,
        locale: InLocale = Locale.AUTO,
    ) -> SearchRun:
        tuning = info.context.store.tuning
        asked: Question = make_question(
            tuning,
            question,
            namespaces=namespaces,
            k=resolve.recall_size(tuning, budget.name),
            filter=None if filter is None else filter.value(tuning),
            locale=resolve.locale_named(locale.name),
        )
        return await info.context.search(asked)

    @strawberry.field(
        description="Compile a pack under a budget of tokens: what matters to a question, to anchors or in relevance scopes.",
        graphql_type=ContextPack | None,
    )
    async def context_pack(
        self,
        info: Info,
        question: PackText = "",
        namespaces: Namespaces = None,
        relevance_scopes: PackScopes = (),  # type: ignore[assignment]
        allowed_scopes: Allowed = None,
        anchors: PackAnchors = (),  # type: ignore[assignment]
        subject: PackSubject = None,
        ephemeral_context: Ephemeral = None,
        max_tokens: MaxTokens = None,
        strategy: PackStrategy = Strategy.HYBRID,
        as_of: AsOf = None,
        known_at: resolve_facts.KnownAt = None,
        k: PackSize = 8,
        locale: HeadingsIn = Locale.AUTO,
    ) -> Compilation:
        asked = make_pack_question(
            info.context.store.tuning,
            question,
            namespaces=namespaces,
            relevance_scopes=relevance_scopes,
            allowed_scopes=allowed_scopes,
            anchors=[ref.value() for ref in anchors],
            subject=None if subject is None else subject.value(),
            ephemeral_context=ephemeral_context,
            max_tokens=max_tokens,
            strategy=resolve_pack.strategy_named(strategy.name),
            as_of=as_of,
            known_at=known_at,
            k=k,
            locale=resolve.locale_named(locale.name),
        )
        return await info.context.pack(asked)

    @strawberry.field(description="List entities page by page.", graphql_type=EntityConnection | None)
    async def entities(
        self,
        info: Info,
        namespaces: Namespaces = None,
        filter: Which = None,
        order_by: OrderBy = EntityOrder.KEY,
        first: First = 20,
        after: After = None,
    ) -> Listing:
        chosen = None if filter is None else filter.value(info.context.store.tuning)
        return await resolve.entities(info, namespaces, chosen, order_by.name, first, after)

    @strawberry.field(
        description="Count entities, their fragments or the facts about them, in groups and over time.",
        graphql_type=Aggregate | None,
    )
    async def aggregate(
        self,
        info: Info,
        metric: Counted,
        dimensions: Dimensions,
        namespaces: Namespaces = None,
        filter: Which = None,
        date_field: Dated = DateField.CREATED,
    ) -> Counting:
        chosen = None if filter is None else filter.value(info.context.store.tuning)
        names = [dimension.name for dimension in dimensions]
        return await resolve.aggregate(info, metric.name, names, namespaces, chosen, date_field.name)

    @strawberry.field(description="Walk over facts from given entities.", graphql_type=Subgraph | None)
    async def graph(
        self,
        info: Info,
        start: Start,
        namespaces: Namespaces = None,
        hops: GraphHops = 1,
        predicates: Predicates = None,
        direction: Way = Direction.BOTH,
        limit: Limit = 40,
        as_of: AsOf = None,
    ) -> SubgraphRun:
        asked = make_graph_question(
            info.context.store.tuning,
            [ref.value() for ref in start],
            namespaces=namespaces,
            hops=hops,
            predicates=predicates,
            direction=resolve.direction_named(direction.name),
            limit=limit,
            as_of=as_of,
        )
        return await info.context.graph(asked)

    @strawberry.field(
        description="Walk step by step along the predicates of domain packs, as things were at an instant, without any ranking.",
        graphql_type=TypedContext | None,
    )
    async def typed_context(
        self,
        info: Info,
        anchors: Anchors,
        traverse: Traverse,
        namespaces: Namespaces = None,
        as_of: AsOf = None,
        allow_semantic: Semantic = False,
    ) -> TypedRun:
        asked = make_typed_question(
            info.context.store.tuning,
            [one.plain() for one in anchors],
            [one.plain() for one in traverse],
            namespaces=namespaces,
            as_of=as_of,
            allow_semantic=allow_semantic,
        )
        return await info.context.typed(asked)

    @strawberry.field(description="The entity with a key, in one namespace.", graphql_type=Entity | None)
    async def entity(self, info: Info, namespace: InNamespace, key: Key) -> records.Entity | None:
        return await resolve.entity(info, namespace, key)

    @strawberry.field(description="The stored original of an entity, strictly in one namespace.", graphql_type=Source | None)
    async def source(self, info: Info, namespace: InNamespace, key: Key) -> records.Source | None:
        return await resolve.source(info, namespace, key)

    @strawberry.field(
        description="A fact as it was recorded at an instant; null where it was not in the record then.", graphql_type=Fact | None
    )
    async def fact(
        self, info: Info, namespace: InNamespace, fact_id: FactId, known_at: resolve_facts.KnownAt = None
    ) -> records.Fact | None:
        return await resolve_facts.fact(info, namespace, fact_id, known_at)

    @strawberry.field(
        description="A stored trace by its id; null for another caller's, an old one, and one over a namespace that is closed.",
        graphql_type=Trace | None,
    )
    async def trace(self, info: Info, trace_id: TraceId) -> ShownTrace | None:
        return await resolve_trace.stored(info, trace_id)

    @strawberry.field(description="Anything that has an id.", graphql_type=Node | None)
    async def node(self, info: Info, id: NodeId) -> records.Entity | records.Fragment | records.Source | None:
        return (await resolve.nodes(info, [id]))[0]

    @strawberry.field(description="Several things that have ids, in their order.", graphql_type=list[Node | None] | None)
    async def nodes(self, info: Info, ids: NodeIds) -> list[records.Entity | records.Fragment | records.Source | None]:
        return await resolve.nodes(info, ids)
