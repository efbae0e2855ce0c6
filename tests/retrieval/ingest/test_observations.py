"""Recording observations: texts, edges to what they are about, keys that are made, writes that are sent twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from retrieval.errors import Conflict, NamespaceNotFound
from retrieval.ingest.deleting import delete_entity, delete_source
from retrieval.ingest.entities import upsert_entities
from retrieval.ingest.entity_input import EntityInput
from retrieval.ingest.observations import ObservationInput, record_observations
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.statistics import refresh_statistics
from retrieval.outcomes import ItemResult, Outcome
from retrieval.store import Store
from tests.fixtures.writing import ADMIN, DOCS, put, row_counts, rows, values

pytestmark = pytest.mark.usefixtures("ns")
AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
ABOUT = """select s.key, f.predicate, o.key, f.valid_from, f.evidence, f.relevance_scopes from fact f
             join entity s on s.entity_id = f.subject_id join entity o on o.entity_id = f.object_id
            where f.retracted_at is null order by 3"""


async def record(store: Store, *observations: ObservationInput, under: str | None = None) -> list[ItemResult]:
    return await record_observations(store.database, store.base, ADMIN, DOCS, observations, under)


async def note(store: Store, text: str = "Payments were slow.", key: str = "n1", **given: Any) -> ItemResult:
    (result,) = await record(store, ObservationInput(text, given.pop("observed_at", AT), key, **given))
    return result


async def thing(store: Store, *keys: str) -> None:
    await upsert_entities(store.database, ADMIN, DOCS, [EntityInput(key, "service", key.upper()) for key in keys])


async def test_everything_given_is_stored_as_of_a_document(store: Store) -> None:
    text = "Payments were slow.\nFrom nine to ten, ERR-42."
    result = await note(store, text, by="ann", relevance_scopes=["project:a"])
    assert (result.key, result.outcome) == ("n1", Outcome.CREATED)
    assert await rows(store, "select kind, type, title, occurred_at, relevance_scopes from entity") == [
        ("OBSERVATION", "observation", "Payments were slow.", AT, ["project:a"])
    ]
    assert await rows(store, "select content, media_type, author from source") == [(text, "text/plain", "ann")]
    assert await rows(store, "select text, identifiers from fragment") == [(text, ["err-42"])]
    await embed_pending(store, 10)
    assert await values(store, "select count(*) from fragment_vector") == [1]


async def test_the_same_note_twice_changes_nothing_and_another_replaces_it(store: Store) -> None:
    await thing(store, "svc")
    await note(store, about=["svc"])
    before = await rows(store, "select fact_id, xmin::text from fact union all select fragment_id, xmin::text from fragment")
    assert (await note(store, about=["svc"])).outcome is Outcome.UNCHANGED
    assert (
        await rows(store, "select fact_id, xmin::text from fact union all select fragment_id, xmin::text from fragment") == before
    )
    assert (await note(store, "Payments are well.", about=["svc"])).outcome is Outcome.UPDATED
    assert await values(store, "select text from fragment") == ["Payments are well."]
    assert len(await rows(store, ABOUT)) == 1


async def test_what_it_is_about_becomes_edges_from_its_instant_on(store: Store) -> None:
    await thing(store, "a", "b")
    await note(store, about=["b", "a", "b"], relevance_scopes=["project:a"])
    assert await rows(store, ABOUT) == [("n1", "about", key, AT, 2, ["project:a"]) for key in ("a", "b")]
    assert await values(store, "select count(*) from edge") == [4]
    assert await values(store, "select e.key from fact_place join entity e using (ns, entity_id)") == ["n1", "n1"]


async def test_changes_of_what_it_is_about_retract_the_old_and_state_the_new(store: Store) -> None:
    await thing(store, "a", "b")
    await note(store, about=["a", "b"])
    kept = await values(store, "select fact_id from fact join entity o on o.entity_id = object_id where o.key = 'b'")
    await note(store, about=["b"])
    assert [row[2] for row in await rows(store, ABOUT)] == ["b"]
    assert await values(store, "select fact_id from fact where retracted_at is null") == kept
    later = AT + timedelta(hours=1)
    await note(store, about=["b"], observed_at=later)
    assert [row[3] for row in await rows(store, ABOUT)] == [later]
    await note(store, about=["b"], observed_at=later, relevance_scopes=["x:y"])
    assert [row[5] for row in await rows(store, ABOUT)] == [["x:y"]]
    await note(store, observed_at=later)
    assert await rows(store, ABOUT) == []
    assert await values(store, "select count(*) from edge") == [0]


async def test_an_entity_that_comes_later_is_met_and_one_that_goes_is_waited_for(store: Store) -> None:
    await note(store, about=["svc", "n1"])
    assert await rows(store, ABOUT) == []
    await thing(store, "svc")
    assert [row[2] for row in await rows(store, ABOUT)] == ["svc"]
    await delete_entity(store.database, ADMIN, DOCS, "svc")
    assert await values(store, "select count(*) from entity") == [1]
    await put(store, "svc", "It came back as a page.")
    assert [row[2] for row in await rows(store, ABOUT)] == ["svc"]


async def test_a_link_and_a_note_about_one_entity_are_two_facts(store: Store, ns: int) -> None:
    await thing(store, "svc")
    await put(store, "n1", "see [svc](svc)", kind="OBSERVATION")
    assert [row[1] for row in await rows(store, ABOUT)] == ["links_to"]
    await note(store, about=["svc"])
    assert [row[1] for row in await rows(store, ABOUT)] == ["about"]
    before = await row_counts(store)
    await put(store, "n1", "see [svc](svc)", kind="OBSERVATION")
    assert [row[1] for row in await rows(store, ABOUT)] == ["links_to"]
    assert (await row_counts(store))["link"] == before["link"]


async def test_another_title_leaves_what_it_is_about(store: Store) -> None:
    await thing(store, "svc")
    await note(store, about=["svc"])
    before = await rows(store, "select fact_id from fact where retracted_at is null")
    await upsert_entities(store.database, ADMIN, DOCS, [EntityInput("n1", "observation", "Slow")])
    assert await rows(store, "select fact_id from fact where retracted_at is null") == before
    assert await rows(store, "select kind, title from entity where key = 'n1'") == [("OBSERVATION", "Slow")]


async def test_deleting_leaves_every_table_as_before(store: Store, ns: int) -> None:
    await thing(store, "svc")
    await refresh_statistics(store.database, ns)
    before = await row_counts(store)
    await note(store, about=["svc", "later"], restricted=True)
    await delete_source(store.database, ADMIN, DOCS, "n1")
    assert (await row_counts(store)) == before | {"entity": 2}
    await delete_entity(store.database, ADMIN, DOCS, "n1")
    assert await row_counts(store) == before


async def test_notes_without_a_key_get_one_each_and_are_all_kept(store: Store) -> None:
    given = [ObservationInput("Payments were slow.", AT)] * 2
    first, second = await record(store, *given)
    assert first.key != second.key
    assert first.outcome is second.outcome is Outcome.CREATED
    await record(store, *given)
    assert await values(store, "select count(*) from entity") == [4]


async def test_under_an_idempotency_key_a_call_is_done_once_and_answers_twice(store: Store) -> None:
    given = [ObservationInput("Payments were slow.", AT), ObservationInput(" ", AT), ObservationInput("Again.", AT, "named")]
    first = await record(store, *given, under="call 1")
    assert [result.outcome for result in first] == [Outcome.CREATED, Outcome.FAILED, Outcome.CREATED]
    assert await record(store, *given, under="call 1") == first
    with pytest.raises(Conflict):
        await record(store, *given[:1], under="call 1")
    await record(store, *given[:1], under="call 2")
    assert await values(store, "select count(*) from entity") == [3]


async def test_a_call_that_was_cut_short_is_gone_on_with_under_its_idempotency_key(store: Store) -> None:
    given = [ObservationInput("Payments were slow.", AT), ObservationInput("Again.", AT)]
    first = await record(store, *given, under="call 1")
    async with store.database.writing() as connection:  # as if the process had died after the first note
        await connection.execute("update idempotency set results = null")
        await connection.execute("delete from entity where key = $1", first[1].key)
    second = await record(store, *given, under="call 1")
    assert [result.key for result in second] == [result.key for result in first]
    assert [result.outcome for result in second] == [Outcome.UNCHANGED, Outcome.CREATED]


async def test_one_that_is_refused_stops_no_other(store: Store) -> None:
    bad = [
        ObservationInput("", AT), ObservationInput("x" * 20_001, AT), ObservationInput("x", datetime(2026, 1, 1)),
        ObservationInput("x", AT, "k" * 2_001), ObservationInput("x", AT, about=[" "]),
        ObservationInput("x", AT, about=[f"k{number}" for number in range(101)]), ObservationInput("x", AT, by="b" * 2_001),
        ObservationInput("x", AT, relevance_scopes=[" "]), ObservationInput("x", AT, readers=["nobody"], restricted=True),
        ObservationInput("x\ud800", AT), ObservationInput("x", AT, " "),
    ]  # fmt: skip
    results = await record(store, ObservationInput("good", AT), *bad, ObservationInput("good", AT))
    assert [result.code for result in results] == [None, *["BAD_INPUT"] * len(bad), None], results
    assert await values(store, "select count(*) from entity") == [2]
    with pytest.raises(NamespaceNotFound):
        await record_observations(store.database, store.base, ADMIN, "nowhere", [])
