"""What each field costs: the statements and calls of providers of the way to it, and those beyond."""

from __future__ import annotations

CALLER = ["caller"]
LEXICAL = ["words", "lexical", "fragments"]
VECTOR = ["embedding", "vector_exact", "fragments"]
FUSED = ["embedding", "words", "vector_exact+lexical"]
HITS = [*FUSED, "fragments"]
SQL = ["sql", "entities_by_id"]
PAGE = ["entities"]
COUNTED = ["caller", "aggregate"]
CHOSEN = [*FUSED, "sql", "graph_hop"]
AROUND = ["graph_hop", "entities_by_id"]
WALK = ["entities_by_key", "graph_hop"]
TYPED = ["caller", "domain_packs"]
STEPS = ["entities_by_key", "typed_step", "typed_step"]
ITEMS = [*STEPS, "entities_by_id", "versions"]
BY_KEY = ["caller", "entities_by_key"]
RANKED = [*FUSED, "entities_by_key", *["graph_hop"] * 3, "entities_by_id", "facts_around", "facts_beside", "recent"]
PACKED = [*RANKED, "fragments", "entities_by_id", "attributes"]
TRACED = [*PACKED, "store_trace"]
ANSWERED = [*HITS, *AROUND, "answer"]
POOLED = [*FUSED, *AROUND, "fragments", "fragments_of", "rerank"]
RERANKED = {
    "hits { score fragment { text } }": POOLED,
    "sources { key }": POOLED,
    "context": POOLED,
    "degraded { code }": POOLED,
    "neighbors { hops }": FUSED + AROUND,
    "vector { rerankScore }": VECTOR,
    "lexical { rerankScore }": LEXICAL,
    "entities { score }": [*CHOSEN, "entities_by_id"],
    "graph { score }": [*CHOSEN, "entities_by_id"],
    "sql { score }": SQL,
    "question namespaces": [],
    "traceId": [*POOLED, "sql", "graph_hop", "entities_by_id", "store_trace"],
}
"""What the fields of a search with `rerank: true` cost: the rerank runs for what depends on it."""
STRATEGIES = {
    "SEMANTIC": ["embedding", "vector_exact", "fragments"],
    "EXACT": ["words", "lexical", "fragments"],
    "GRAPH": ["entities_by_key", *["graph_hop"] * 2, *["entities_by_id"] * 2, "facts_around", "facts_beside", "attributes"],
    "BRIEFING": [
        "entities_by_key", *["graph_hop"] * 2, *["entities_by_id"] * 2, "facts_around", "facts_beside", "recent", "attributes",
    ],
    "HYBRID": PACKED,
    "CONTEXT": PACKED,
}  # fmt: skip
"""What the budget of a pack costs under some strategies."""

BASES = {
    "Viewer": ("viewer { % }", CALLER),
    "NamespaceAccess": ("viewer { namespaces { % } }", CALLER),
    "Knowledge": ("knowledge { % }", CALLER),
    "ToolDefinition": ("knowledge { tools { % } }", [*CALLER, "is_empty"]),
    "NamespaceSummary": ("knowledge { namespaces { % } }", CALLER),
    "Search": ("SEARCH { % }", CALLER),
    "Recall": ("RECALL { % }", CALLER),
    "Answer": ("SEARCH { answer { % } }", CALLER + ANSWERED),
    "Citation": ("SEARCH { answer { citations { % } } }", CALLER + ANSWERED),
    "FragmentHit": ("SEARCH { lexical { % } }", CALLER + LEXICAL),
    "Signal": ("SEARCH { lexical { signals { % } } }", CALLER + LEXICAL),
    "Highlight": ("SEARCH { lexical { highlights { % } } }", [*CALLER, *LEXICAL, "highlights"]),
    "Fragment": ("SEARCH { lexical { fragment { % } } }", CALLER + LEXICAL),
    "FactConnection": ("ENTITY { facts { % } }", [*BY_KEY, "facts_of"]),
    "FactEdge": ("ENTITY { facts { edges { % } } }", [*BY_KEY, "facts_of"]),
    "SourceCard": ("SEARCH { lexical { card { % } } }", CALLER + LEXICAL),
    "ProvenanceStep": ("SEARCH { lexical { fragment { provenance { % } } } }", [*CALLER, *LEXICAL, "sources"]),
    "Neighbor": ("SEARCH { neighbors { % } }", CALLER + FUSED + AROUND),
    "Fact": ("SEARCH { neighbors { via { % } } }", [*CALLER, *FUSED, *AROUND, "facts_by_row"]),
    "Entity": ("ENTITY { % }", BY_KEY),
    "EntityHit": ("SEARCH { entities { % } }", [*CALLER, *CHOSEN, "entities_by_id"]),
    "EntityConnection": ("ENTITIES { % }", CALLER),
    "EntityEdge": ("ENTITIES { edges { % } }", CALLER + PAGE),
    "Subgraph": ("GRAPH { % }", CALLER),
    "TypedContext": ("TYPED { % }", TYPED),
    "ResolvedAnchor": ("TYPED { anchors { % } }", [*TYPED, "entities_by_key"]),
    "UnresolvedAnchor": ("TYPED { unresolved { % } }", [*TYPED, "entities_by_key"]),
    "TypedSection": ("TYPED { sections { % } }", TYPED + ITEMS),
    "TypedItem": ("TYPED { sections { items { % } } }", TYPED + ITEMS),
    "UsedSet": ("TYPED { used { % } }", [*TYPED, *ITEMS, "facts_by_row"]),
    "ContextPack": ("PACK { % }", CALLER),
    "Section": ("PACK { sections { % } }", CALLER + PACKED),
    "PackItem": ("PACK { sections { items { % } } }", CALLER + PACKED),
    "Budget": ("PACK { budget { % } }", CALLER + PACKED),
    "DroppedItem": ("PACK { budget { dropped { % } } }", CALLER + PACKED),
    "Trace": ("PACK { trace { % } }", CALLER + TRACED),
    "ChannelTrace": ("PACK { trace { channels { % } } }", [*CALLER, *TRACED, "visible_items"]),
    "StageRecord": ("PACK { trace { stages { % } } }", CALLER + TRACED),
    "TraceCandidateConnection": ("PACK { trace { candidates { % } } }", [*CALLER, *TRACED, "visible_items"]),
    "TraceCandidate": ("PACK { trace { candidates { nodes { % } } } }", [*CALLER, *TRACED, "visible_items"]),
    "Decision": ('PACK { trace { why(key: "nothing") { % } } }', [*CALLER, *TRACED, "visible_items", "entities_by_key"]),
    "ChannelDecision": (
        'PACK { trace { why(key: "nothing") { channels { % } } } }',
        [*CALLER, *TRACED, "visible_items", "entities_by_key"],
    ),
    "Aggregate": ("AGGREGATE { % }", COUNTED),
    "Bucket": ("AGGREGATE { buckets { % } }", COUNTED),
    "BucketValue": ("AGGREGATE { buckets { values { % } } }", COUNTED),
    "FragmentConnection": ("ENTITY { fragments { % } }", [*BY_KEY, "fragments_of"]),
    "FragmentEdge": ("ENTITY { fragments { edges { % } } }", [*BY_KEY, "fragments_of"]),
    "PageInfo": ("ENTITY { fragments { pageInfo { % } } }", [*BY_KEY, "fragments_of"]),
    "Source": ("SOURCE { % }", [*BY_KEY, "sources"]),
    "Query": ("%", []),
}
"""How each type is reached, and the statements and calls that this costs."""

COSTS = {
    "Knowledge.isEmpty": ["is_empty"],
    "Knowledge.tools": ["is_empty"],
    "Knowledge.pendingEmbeddings": ["pending_embeddings"],
    "NamespaceSummary.entityCount": ["count_entities"],
    "NamespaceSummary.fragmentCount": ["count_fragments"],
    "NamespaceSummary.factCount": ["count_facts"],
    "Search.hits": HITS,
    "Search.traceId": [*HITS, "sql", "graph_hop", "entities_by_id", "store_trace"],
    "Search.trace": [*HITS, "sql", "graph_hop", "entities_by_id", "store_trace"],
    "TypedContext.traceId": [*ITEMS, "facts_by_row", "store_trace"],
    "TypedContext.trace": [*ITEMS, "facts_by_row", "store_trace"],
    "ContextPack.traceId": TRACED,
    "ContextPack.trace": TRACED,
    "Trace.channels": ["visible_items"],
    "Trace.candidates": ["visible_items"],
    "TraceCandidate.title": ["facts_by_row"],
    "Trace.budget": ["visible_items"],
    "Trace.why": ["visible_items", "entities_by_key"],
    "Query.trace": ["caller", "trace"],
    "Search.vector": VECTOR,
    "Search.lexical": LEXICAL,
    "Search.sql": SQL,
    "Search.graph": [*CHOSEN, "entities_by_id"],
    "Search.entities": [*CHOSEN, "entities_by_id"],
    "EntityHit.evidence": ["fragments"],
    "Search.neighbors": FUSED + AROUND,
    "Search.sources": HITS + AROUND,
    "Search.context": HITS + AROUND,
    "Search.answer": ANSWERED,
    "Search.degraded": ["embedding"],
    "Recall.memories": HITS,
    "Recall.count": HITS,
    "Recall.neighbors": FUSED + AROUND,
    "Recall.sources": HITS + AROUND,
    "Recall.context": HITS + AROUND,
    "Recall.degraded": ["embedding"],
    "Subgraph.entities": [*WALK, "entities_by_id"],
    "Subgraph.facts": [*WALK, "facts_by_row"],
    "Subgraph.truncated": WALK,
    "TypedContext.anchors": ["entities_by_key"],
    "TypedContext.unresolved": ["entities_by_key"],
    "TypedContext.sections": ITEMS,
    "TypedContext.facts": [*STEPS, "facts_by_row"],
    "TypedContext.used": [*ITEMS, "facts_by_row"],
    "TypedContext.sources": [*ITEMS, "facts_by_row", "fact_places", "entities_by_id"],
    "TypedContext.truncated": STEPS,
    "TypedItem.via": ["facts_by_row"],
    "ContextPack.sections": PACKED,
    "ContextPack.text": PACKED,
    "ContextPack.textTokenEstimate": PACKED,
    "ContextPack.tokenEstimate": PACKED,
    "ContextPack.budget": PACKED,
    "ContextPack.conflicts": PACKED,
    "ContextPack.sources": [*PACKED, "fact_places", "entities_by_id"],
    "ContextPack.degraded": RANKED,
    "PackItem.provenance": ["facts_by_row", "fact_places", "entities_by_id", "sources"],
    "FragmentHit.highlights": ["highlights"],
    "Fragment.provenance": ["sources"],
    "SourceCard.source": ["sources"],
    "Neighbor.via": ["facts_by_row"],
    "Fact.subject": ["entities_by_id"],
    "Fact.object": ["entities_by_id"],
    "Fact.provenance": ["fact_places", "entities_by_id", "sources"],
    "Entity.attributes": ["attributes"],
    "Entity.source": ["sources"],
    "Entity.fragments": ["fragments_of"],
    "Entity.facts": ["facts_of"],
    "FactConnection.totalCount": ["facts_of_counted"],
    "Fact.conflict": ["facts_beside"],
    "Fact.conflictsWith": ["facts_beside"],
    "Source.statedFacts": ["facts_stated"],
    "Query.fact": ["caller", "facts_known"],
    "Entity.provenance": ["sources"],
    "EntityConnection.edges": PAGE,
    "EntityConnection.nodes": PAGE,
    "EntityConnection.pageInfo": PAGE,
    "EntityConnection.totalCount": ["entities_counted"],
    "FragmentConnection.totalCount": ["fragments_counted"],
    "Source.content": ["contents"],
    "Source.fragments": ["fragments_of"],
    "Query.viewer": CALLER,
    "Query.knowledge": CALLER,
    "Query.search": CALLER,
    "Query.recall": CALLER,
    "Query.entities": CALLER,
    "Query.aggregate": COUNTED,
    "Query.graph": CALLER,
    "Query.typedContext": TYPED,
    "Query.contextPack": CALLER,
    "Query.entity": BY_KEY,
    "Query.source": [*BY_KEY, "sources"],
    "Query.node": ["caller", "entities_by_id"],
    "Query.nodes": ["caller", "entities_by_id", "fragments", "sources"],
}
"""What a field costs beyond the way to it; a field that is not listed costs nothing."""
NOT_REACHED = {"Degradation", "PersonalDataFinding"}
"""Types that nothing gives in this world."""
