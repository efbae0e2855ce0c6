"""Faults of one statement each, that the oracle must find: its name, what it says, and what it says then."""

from __future__ import annotations

GIVEN = "visible(a.ns, {0}.acl_id, $1, $2, $3)"
ROW = "visible({0}.ns, {0}.acl_id, $1, $2, $3)"
EDGE = "e.{0} = any($2)"
AT_ITS_END = "stands(f.valid_from, f.valid_to,", "stands(f.valid_from, f.valid_to + interval '1 us',"
WHEN_RETRACTED = "f.recorded_at, f.retracted_at,", "f.recorded_at, f.retracted_at + interval '1 us',"
STANDS = "any(array(select principal_id from stands))"
ENTITIES = ("visible_entities($1, $2, $3,", "visible_entities($1, $2, $1,")
FAULTS = {
    "the exact vector list ignores restrictions": ("vector_exact", ROW.format("v"), "v.ns = any($1)"),
    "the lexical list ignores restrictions": ("lexical", "visible(l.ns + 0, l.acl_id, $1, $2, $3)", "true"),
    "an entity by key ignores restrictions": ("entities_by_key", ROW.format("e"), "true"),
    "an entity by id ignores namespaces": ("entities_by_id", ROW.format("e"), "true"),
    "equal keys of several namespaces are one": ("entities_by_key", "select e.ns", "select distinct on (e.key_digest) e.ns"),
    "a fragment by id ignores restrictions": ("fragments", f"{ROW.format('f')} and {ROW.format('e')}", "f.ns = any($1)"),
    "fragments of an entity are counted whatever they are": ("fragments_counted", ROW.format("f"), "false"),
    "a source by id ignores restrictions": ("sources", ROW.format("e"), "e.ns = any($1)"),
    "a walk goes through hidden entities": ("graph_hop", EDGE.format("far_acl"), "true"),
    "a walk goes over facts stated in hidden places": ("graph_hop", EDGE.format("place_acl"), "true"),
    "a fact holds at the moment when it ends": ("graph_hop", "e.valid_to > $8", "e.valid_to >= $8"),
    "entities are counted before access": ("count_entities", ROW.format("e"), "e.ns = any($1)"),
    "fragments are counted before access": ("count_fragments", ROW.format("f"), "f.ns = any($1)"),
    "facts are counted whatever they lead to": ("count_facts", ROW.format("o"), "true"),
    "emptiness is that of all": ("is_empty", ROW.format("f"), "true"),
    "the queue is counted before access": ("pending_embeddings", ROW.format("f"), "true"),
    "a list of entities ignores restrictions": ("entities", *ENTITIES),
    "pages are counted before access": ("entities_counted", *ENTITIES),
    "the sql list ignores restrictions": ("sql", *ENTITIES),
    "an aggregate groups hidden entities": ("aggregate", *ENTITIES),
    "an aggregate counts facts whatever they lead to": ("aggregate", ROW.format("o"), "true"),
    "an aggregate counts facts stated in hidden places": ("aggregate", f" and {ROW.format('e')}", ""),
    "facts around an entity lead to hidden ones": ("facts_of", GIVEN.format("o"), "true"),
    "facts around an entity come from hidden ones": ("facts_of", GIVEN.format("s"), "true"),
    "facts around an entity were stated in hidden places": ("facts_of", GIVEN.format("e"), "true"),
    "facts around an entity are read by all as by who reads all": ("facts_of", "a.ns = any($3) as is_whole", "true as is_whole"),
    "facts around an entity that are found by key lead to hidden ones": ("facts_of", f"and {EDGE.format('far_acl')}", ""),
    "a fact of a list holds at the moment when it ends": ("facts_of", *AT_ITS_END),
    "facts around an entity are counted whatever they lead to": ("facts_of_counted", f"and {EDGE.format('far_acl')}", ""),
    "facts that a text states lead to hidden things": ("facts_stated", GIVEN.format("o"), "true"),
    "a fact by id was stated in hidden places": ("facts_known", GIVEN.format("e"), "true"),
    "a fact is in conflict with one that leads to something hidden": (
        "facts_beside", f"and {EDGE.format('far_acl')}", "",
    ),
    "words are weighed by hidden texts": ("words", "s.acl_id = 0", "true"),
    "anybody's grants open an entity": ("caller", f"g.principal_id = {STANDS}", "true"),
    "who is in no group is in all": (
        "caller", f"g.principal_id = {STANDS}", f"(g.principal_id = {STANDS} or (select count(*) from stands) = 2)",  # noqa: S608
    ),
    "groups are followed one step": ("caller", "from stands s cross join", "from (select principal_id from who) s cross join"),
    "everyone is nobody": ("caller", "p.name = 'everyone'", "false"),
    "the right to personal data by a group is nobody's": (
        "caller", "array_agg(distinct r.role)", "array_agg(distinct case when r.role = 'PERSONAL_DATA' and r.principal_id <> "
        "(select principal_id from who) then 'READER' else r.role end)",
    ),
    "an order of titles tells their numbers": ("entities", "e.ns = any($25::int[])", "true"),
    "roles of strangers count": ("caller", f"r.principal_id = {STANDS}", "true"),
    "a token is good at the moment when it ends": ("caller", "t.expires_at > now()", "t.expires_at >= now()"),
    "a revoked token is good": ("caller", "t.revoked_at is null and ", ""),
}  # fmt: skip
"""Faults of one statement: its name, what it says, and what it says then."""

SOONEST = {
    "the lexical list ignores restrictions": (1, 3), "a walk goes over facts stated in hidden places": (1, 0),
    "emptiness is that of all": (0, 7), "facts around an entity lead to hidden ones": (1, 9),
    "facts around an entity come from hidden ones": (2, 2), "facts around an entity were stated in hidden places": (1, 9),
    "facts around an entity that are found by key lead to hidden ones": (1, 0),
    "facts around an entity are read by all as by who reads all": (1, 0),
    "a fact of a list holds at the moment when it ends": (1, 4), "a fact by id was stated in hidden places": (5, 3),
} | dict.fromkeys((
    "an entity by id ignores namespaces", "equal keys of several namespaces are one", "a fragment by id ignores restrictions",
    "fragments of an entity are counted whatever they are", "a source by id ignores restrictions",
    "entities are counted before access", "fragments are counted before access", "facts are counted whatever they lead to",
    "the queue is counted before access", "pages are counted before access", "an aggregate groups hidden entities",
    "an aggregate counts facts whatever they lead to", "an aggregate counts facts stated in hidden places",
    "facts around an entity are counted whatever they lead to", "facts that a text states lead to hidden things",
    "a fact is in conflict with one that leads to something hidden",
), (0, 0))  # fmt: skip
"""The world and its caller who is asked about a fault first, since it shows there; it saves minutes, and changes nothing else."""

SAME = "visible({0}.ns, {0}.acl_id, $1, $2, $3)"
PACK_FAULTS = {
    "facts of a pack were stated in hidden places": ("facts_around", SAME.format("e").replace("e.ns", "n.ns"), "true"),
    "facts of a pack as of then lead to hidden things": ("facts_around", SAME.format("o").replace("o.ns", "n.ns"), "true"),
    "facts of a pack as of then come from hidden things": ("facts_around", SAME.format("s").replace("s.ns", "n.ns"), "true"),
    "facts of a pack that are edges were stated in hidden places": ("facts_around", "and e.place_acl = any($2)", ""),
    "facts of a pack that are edges lead to hidden things": ("facts_around", "and e.far_acl = any($2)", ""),
    "values of a pack that are found by key were stated in hidden places": ("facts_around", "and s.place_acl = any($2)", ""),
    "a contradiction holds at the moment when it ends": ("facts_beside", *AT_ITS_END),
    "a contradiction is known at the moment when it was retracted": (
        "facts_beside", *WHEN_RETRACTED,
    ),
    "recent notes ignore restrictions": ("recent", "visible(s.ns, e.acl_id, $1, $2, $3)", "true"),
    "what contradicts a fact of a pack was stated in hidden places": (
        "facts_beside", "where v.is_whole and f.ns", "where f.ns",
    ),
    "what contradicts a fact of a pack is about something else": (
        "facts_beside", "in_scope(f.relevance_scopes, $9, $10)", "true",
    ),
    "the facts of a pack ignore which scopes are allowed": (
        "facts_around", "in_scope(f.relevance_scopes, $9, $10)", "in_scope(f.relevance_scopes, $9, null)",
    ),
    "recent notes ignore which scopes are allowed": ("recent", "in_scope(e.relevance_scopes, null, $5)", "true"),
    "words of a pack ignore which scopes are allowed": (
        "lexical", "in_scope(e.relevance_scopes, $21, $22)", "in_scope(e.relevance_scopes, $21, null)",
    ),
    "scopes are asked of what was ranked, after the cut": (
        "vector_exact", "order by distance, v.ns, v.fragment_id\n        offset 0", "order by distance, v.ns limit $5",
    ),
    "a walk of the past goes over facts stated in hidden places": ("graph_hop_known", EDGE.format("place_acl"), "true"),
    "a walk of the past goes to hidden entities": ("graph_hop_known", EDGE.format("far_acl"), "true"),
}  # fmt: skip
"""Faults of one statement that packs show."""

PACKS_SOONEST = {
    "what contradicts a fact of a pack was stated in hidden places": ((1, 10),),
    "words of a pack ignore which scopes are allowed": ((3, 5),),
    "scopes are asked of what was ranked, after the cut": ((4, 3),),
    "a contradiction is known at the moment when it was retracted": ((5, 2),),
}
"""The world and the seed whose packs show a fault, asked for first."""

TRACE_FAULTS = {
    "a trace is anybody's": ("trace", "(t.principal_id is not distinct from $5", "(true"),
    "a trace is shown whose namespaces are closed": ("trace", "t.namespaces <@ $1 and ", ""),
    "whoever has a role somewhere reads traces of others": ("trace", " and r.role = 'ADMIN'", ""),
    "a trace shows fragments that are hidden": (
        "visible_items", f"{SAME.format('f')} and {SAME.format('e')}\nunion", "true\nunion",
    ),
    "a trace shows entities that are hidden, and why tells them from what never was": (
        "visible_items", f"e.entity_id = any($7) and {SAME.format('e')}", "e.entity_id = any($7)",
    ),
    "a trace shows facts stated in hidden places": (
        "visible_items", f"p.fact_id = f.fact_id and {SAME.format('e')}", "p.fact_id = f.fact_id",
    ),
    "a trace shows facts about hidden things": ("visible_items", SAME.format("s"), "true"),
}  # fmt: skip
"""Faults of one statement that the reading of traces shows."""
