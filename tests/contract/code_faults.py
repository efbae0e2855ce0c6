"""Faults of any file, that the tests of the default run must notice."""

from __future__ import annotations

from tests.contract.statement_faults import ROW, WHEN_RETRACTED

WORLDS, HISTORIES, HIDDEN = (f"tests/contract/test_{name}.py" for name in ("access", "histories", "hidden"))
SEVERAL = (f"{HISTORIES}::test_a_change_of_rights_holds_from_the_next_request_in_every_process",)
WORLD = (f"{WORLDS}::test_every_field_holds_exactly_what_the_caller_may_see[1]",)
STREAM = (f"{HIDDEN}::test_a_subscription_counts_what_is_visible_and_ends_when_the_namespace_is_closed",)
KEPT = 'store.database.__dict__.setdefault("kept", {})'
RESOLVED = 'await self.run(connection, "caller", statement("caller"), *asked)'
DEEP_FAULTS = {
    "a reader is shared by all who read the same namespaces": (
        "retrieval/session.py", "self._readers: dict[tuple[int, ...], Reader] = {}", f"self._readers = {KEPT}", WORLD,
    ),
    "a search is kept for whoever asks the same": (
        "retrieval/session.py", "self._searches: dict[Question, Search] = {}", f"self._searches = {KEPT}", WORLD,
    ),
    "an aggregate is kept for whoever asks the same": (
        "retrieval/session.py", "self._countings: dict[Aggregation, Counting] = {}", f"self._countings = {KEPT}", WORLD,
    ),
    "a caller is resolved once a process": (
        "retrieval/reader.py",
        f"rows = {RESOLVED}",
        f"kept = self.{KEPT}\n"
        f"        rows = kept.get(identity.token_digest) or kept.setdefault(identity.token_digest, {RESOLVED})",
        SEVERAL,
    ),
    "a cursor is trusted": (
        "retrieval/cursor.py", "if not hmac.compare_digest(signed, signature(secret, scope, payload)):", "if False:", SEVERAL,
    ),
    "a cursor is anybody's": ("retrieval/listing.py", '[caller, "entities"', '["", "entities"', SEVERAL),
    "rights that change in the middle of a request go unnoticed": (
        "retrieval/reader.py", 'if rows[0]["epoch"] != access.epoch:', "if False:",
        ("tests/contract/test_laws.py::test_what_is_revoked_while_an_answer_is_made_is_left_out",),
    ),
    "a closed namespace is said to be closed": (
        "retrieval/administration/rights.py", "raise NamespaceNotFound(namespace)",
        "raise NamespaceNotFound(namespace) if row is None else Forbidden(namespace)",
        (f"{HIDDEN}::test_a_closed_namespace_answers_as_one_that_is_not_there",),
    ),
    "a stream is checked once": (
        "resolvers/ingest.py",
        "    while True:\n        async with info.context.again() as session:",
        "    session = info.context.again()\n    while True:\n        if True:", STREAM,
    ),
    "an answer is told on whatever becomes of rights": (
        "retrieval/answering/streaming.py", "            return\n        async with run.session.again()",
        "            pass\n        return\n        async with run.session.again()",
        ("tests/stories/test_streaming.py::test_nothing_comes_after_rights_are_gone",),
    ),
    "a stream goes on as the administrator": (
        "retrieval/session.py", "return Session(self.store, self._identity,",
        'return Session(self.store, type(self._identity)(is_local_administrator=True),', STREAM,
    ),
    "a group inherits from the one of its name that was deleted": (
        "retrieval/administration/sql/delete_principal.sql", "delete from principal p\n where",
        "update principal p set title = null\n where", SEVERAL,
    ),
    "vectors of a text that becomes restricted stay open": (
        "retrieval/ingest/rights_of_source.py", '*(("fragment_vector",) if models.current else ())', "", SEVERAL,
    ),
    "edges keep the rights of before": (
        "retrieval/ingest/write.py", "await refresh_edges_around(connection, ns, stored.entity_id)", "pass", SEVERAL,
    ),
    "what takes the place of another ends nothing": (
        "retrieval/ingest/fact_record.py", "self.put(replace(other, valid_to=row.valid_from))", "pass",
        ("tests/retrieval/ingest/test_fact_histories.py::test_histories_of_facts_agree_with_a_model_at_every_instant",),
    ),
    "a fact is known at the moment when it was retracted": (
        "retrieval/sql/facts_of.sql", *WHEN_RETRACTED,
        ("tests/retrieval/ingest/test_fact_histories.py::test_histories_of_facts_agree_with_a_model_at_every_instant",),
    ),
    "a cursor of facts is anybody's": (
        "resolvers/facts.py", "[caller.name, *scope]", "[*scope]",
        ("tests/stories/test_facts_over_time.py::test_a_cursor_of_facts_is_good_for_its_caller_and_its_list_only",),
    ),
    "a walk starts wherever a key is": (
        "retrieval/subgraph.py", "(spaces if ref.namespace is None else [known[ref.namespace]])", "spaces",
        (WORLD[0].replace("[1]", "[2]"),),
    ),
    "the near vector list ignores restrictions": (
        "retrieval/sql/vector_near.sql", ROW.format("v"), "v.ns = any($1)",
        (f"{WORLDS}::test_the_index_of_vectors_gives_nothing_but_what_is_visible_and_nearly_all_of_it",),
    ),
    "the log names closed namespaces": (
        "retrieval/session.py", "found = (await self.caller).narrowed(",
        "self.touched.update(names or ())\n        found = (await self.caller).narrowed(",
        (f"{WORLDS}::test_no_forbidden_text_leaves_by_http_headers_logs_or_metrics",),
    ),
}  # fmt: skip
"""Faults of any file: its path, what it says, what it says then, and the tests of the default run that notice."""

SOONEST = dict.fromkeys(
    ("edges keep the rights of before", "a group inherits from the one of its name that was deleted"), (f"{SEVERAL[0]}[209]",)
)
"""Tests that are run first for a fault, since it shows there; it saves half a minute, and changes nothing else."""
