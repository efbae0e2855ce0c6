"""Storing entities by key: versions of attributes, texts that stay, rights, refusals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.errors import BadInput, NamespaceNotFound
from retrieval.ingest.entities import upsert_entities
from retrieval.ingest.entity_input import EntityInput, checked
from retrieval.ingest.queue import embed_pending
from retrieval.outcomes import ItemResult, Outcome
from retrieval.store import Store
from tests.fixtures.writing import ADMIN, DOCS, epoch, put, row_counts, rows, values

pytestmark = pytest.mark.usefixtures("ns")
DAY = timedelta(days=1)
START = datetime(2026, 3, 1, tzinfo=UTC)
VERSIONS = "select valid_from, attributes from entity_version order by valid_from"


async def upsert(store: Store, *entities: EntityInput) -> list[ItemResult]:
    return await upsert_entities(store.database, ADMIN, DOCS, entities)


async def one(store: Store, key: str = "svc", type: str = "service", title: str = "Billing", **given: Any) -> ItemResult:
    (result,) = await upsert(store, EntityInput(key, type, title, **given))
    return result


async def test_an_entity_is_made_left_alone_and_changed(store: Store) -> None:
    full: dict[str, Any] = {
        "status": "live", "source_path": "/ops", "meta": {"tier": 1}, "relevance_scopes": ["project:a"], "occurred_at": START,
        "attributes": {"owner": "ann"},
    }  # fmt: skip
    assert (await one(store, **full)).outcome is Outcome.CREATED
    before = await rows(store, "select xmin::text from entity union all select xmin::text from entity_version")
    assert (await one(store, **full)).outcome is Outcome.UNCHANGED
    assert (await one(store)).outcome is Outcome.UNCHANGED, "what is left out keeps what is stored"
    assert await rows(store, "select xmin::text from entity union all select xmin::text from entity_version") == before
    assert (await one(store, status="", source_path=" ", meta={}, relevance_scopes=[])).outcome is Outcome.UPDATED
    assert await rows(
        store, "select kind, type, title, status, source_path, meta, relevance_scopes, occurred_at from entity"
    ) == [("THING", "service", "Billing", None, None, {}, [], START)]


async def test_each_of_its_fields_is_an_update_once(store: Store) -> None:
    await one(store)
    changes: list[dict[str, Any]] = [
        {"title": "Other"}, {"type": "app"}, {"kind": "EPISODE"}, {"status": "x"}, {"source_path": "x"}, {"meta": {"a": 1}},
        {"relevance_scopes": ["a:b"]}, {"occurred_at": START}, {"attributes": {"a": 1}}, {"restricted": True},
        {"attributes": {"a": 2}, "valid_from": START},
    ]  # fmt: skip
    said: dict[str, Any] = {}
    for change in changes:
        said |= change
        said = said if "valid_from" in change else {name: value for name, value in said.items() if name != "valid_from"}
        assert (await one(store, **said)).outcome is Outcome.UPDATED, change
        assert (await one(store, **said)).outcome is Outcome.UNCHANGED, change


async def test_versions_end_where_the_next_begins_whatever_order_they_come_in(store: Store) -> None:
    await one(store, attributes={"n": 3}, valid_from=START + 2 * DAY)
    await one(store, attributes={"n": 1}, valid_from=START)
    await one(store, attributes={"n": 2}, valid_from=START + DAY)
    assert await rows(store, VERSIONS) == [(START, {"n": 1}), (START + DAY, {"n": 2}), (START + 2 * DAY, {"n": 3})]
    await one(store, attributes={"n": 20}, valid_from=START + DAY)
    assert (await rows(store, VERSIONS))[1] == (START + DAY, {"n": 20})


async def test_a_version_equal_to_the_one_before_is_kept_since_another_may_come_between(store: Store) -> None:
    await one(store, attributes={"n": 1}, valid_from=START)
    assert (await one(store, attributes={"n": 1}, valid_from=START + 2 * DAY)).outcome is Outcome.UPDATED
    await one(store, attributes={"n": 2}, valid_from=START + DAY)
    assert [attributes["n"] for _, attributes in await rows(store, VERSIONS)] == [1, 2, 1]


async def test_without_an_instant_the_first_attributes_hold_since_ever_and_others_from_now_on(store: Store) -> None:
    await one(store, attributes={"n": 1})
    assert await values(store, "select valid_from = '-infinity' from entity_version") == [True]
    await one(store, attributes={"n": 2})
    assert await values(store, "select valid_from > now() - interval '1 minute' from entity_version order by valid_from") == [
        False, True,
    ]  # fmt: skip
    assert (await one(store, attributes={"n": 2})).outcome is Outcome.UNCHANGED


async def test_many_versions_of_one_entity_come_in_one_call(store: Store) -> None:
    given = [EntityInput("svc", "service", "Billing", attributes={"n": n}, valid_from=START + n * DAY) for n in range(5)]
    assert [result.outcome for result in await upsert(store, *given)] == [Outcome.CREATED] + [Outcome.UPDATED] * 4
    assert [result.outcome for result in await upsert(store, *given)] == [Outcome.UNCHANGED] * 5


async def test_an_entity_with_a_text_keeps_text_kind_and_source(store: Store) -> None:
    await put(store, "a.md", "# Old title\n\nсловарь [b](b.md)", type="page", meta={"tag": "x"}, status="draft")
    await put(store, "b.md", "вторая")
    await embed_pending(store, 10)
    before = await rows(store, "select content, digest from source order by entity_id")
    assert (await one(store, "a.md", "page", "Old title", status="done")).outcome is Outcome.UPDATED
    assert await rows(store, "select kind, title, status, meta from entity where key = 'a.md'") == [
        ("DOCUMENT", "Old title", "done", {"tag": "x"})
    ]
    assert await values(store, "select count(*) from fragment_vector") == [2], "nothing of the text changed"
    assert await rows(store, "select content, digest from source order by entity_id") == before
    assert await values(store, "select count(*) from fact where retracted_at is null") == [1]


async def test_the_text_of_an_entity_is_found_by_its_new_title_and_carries_its_new_tags(store: Store) -> None:
    content = "---\ntitle: Old title\nlang: ru\n---\n\nсловарь"
    await put(store, "a.md", content, meta={"tag": "x"})
    await embed_pending(store, 10)
    result = await one(store, "a.md", "document", "Zebra", meta={"tag": "y"})
    assert result.outcome is Outcome.UPDATED
    assert (await one(store, "a.md", "document", "Zebra", meta={"tag": "y"})).outcome is Outcome.UNCHANGED
    assert await rows(store, "select title, meta->>'tag', meta->>'lang' from fragment") == [("Zebra", "y", "ru")]
    assert await values(store, "select key from entity join fragment_lexemes using (ns, entity_id) where lexemes @@ 'zebra'") == [
        "a.md"
    ]
    assert (await put(store, "a.md", content, meta={"tag": "x"})).outcome is Outcome.UNCHANGED, "the source is as it was given"
    assert await values(store, "select count(*) from embedding_queue") == [1]


async def test_links_that_waited_for_it_become_facts(store: Store) -> None:
    await put(store, "a.md", "[svc](svc)")
    assert await values(store, "select count(*) from fact") == [0]
    await one(store)
    assert await values(store, "select count(*) from fact") == [1]
    assert await values(store, "select count(*) from edge") == [2]


async def test_rights_are_kept_unless_given_and_the_epoch_moves_with_them(store: Store) -> None:
    await upsert_principals(store.database, ADMIN, [PrincipalInput("ann", "USER")])
    await one(store, restricted=True, readers=["ann"])
    before = await epoch(store)
    await one(store, title="Other")
    assert (await rows(store, "select acl_id <> 0 from entity"), await epoch(store)) == ([(True,)], before)
    assert (await one(store, title="Other", restricted=False)).outcome is Outcome.UPDATED
    assert (await rows(store, "select acl_id from entity"), await epoch(store)) == ([(0,)], before + 1)
    assert await values(store, "select count(*) from acl_grant") == [0]
    result = await one(store, title="Other", readers=["ann"])
    assert (result.outcome, result.code) == (Outcome.FAILED, "BAD_INPUT")


async def test_one_that_fails_stops_no_other_and_leaves_nothing(store: Store) -> None:
    before = await row_counts(store)
    bad = [
        EntityInput(" ", "service", "x"), EntityInput("a", " ", "x"), EntityInput("a", "service", " "),
        EntityInput("a" * 2_001, "service", "x"), EntityInput("a", "service", "x", kind="OTHER"),
        EntityInput("a", "service", "x", valid_from=START), EntityInput("a", "service", "x", readers=["nobody"], restricted=True),
        EntityInput("a", "service", "x", attributes={}, valid_from=datetime(2026, 1, 1)),
        EntityInput("a", "service", "x", attributes=[1]), EntityInput("a", "service", "x\ud800"),  # type: ignore[arg-type]
        EntityInput("a", "service", "x", meta={"a": "x" * 9_000}), EntityInput("a", "service", "x", status="x" * 201),
        EntityInput("a", "service", "x", restricted=False, readers=["ann"]),
    ]  # fmt: skip
    results = await upsert(store, *bad)
    assert [(result.outcome, result.code) for result in results] == [(Outcome.FAILED, "BAD_INPUT")] * len(bad), results
    assert await row_counts(store) == before
    mixed = await upsert(store, EntityInput("b", "service", "B"), *bad, EntityInput("c", "service", "C"))
    assert [result.outcome for result in mixed if result.code is None] == [Outcome.CREATED, Outcome.CREATED]


async def test_a_namespace_that_is_not_there_is_refused_before_anything(store: Store) -> None:
    with pytest.raises(NamespaceNotFound):
        await upsert_entities(store.database, ADMIN, "nowhere", [EntityInput("a", "service", "A")])


async def test_spellings_of_a_key_are_one_entity_and_the_first_stays(store: Store) -> None:
    await one(store, "й")
    assert (await one(store, "й", status="x")).outcome is Outcome.UPDATED
    assert await values(store, "select key from entity") == ["й"]


@given(st.text(max_size=30), st.text(max_size=3_000))
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
def test_checking_twice_is_checking_once(status: str, title: str) -> None:
    try:
        entity = checked(EntityInput("a", "t", f"x{title}", status=status))
    except BadInput:
        return
    assert checked(entity) == entity
