"""Storing sources: outcomes, fragments, words, vectors, links, rights, refusals."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.errors import NamespaceNotFound
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.source_input import Origin, SourceInput
from retrieval.ingest.write import ingest_many
from retrieval.outcomes import Outcome
from retrieval.store import Store
from retrieval.tuning import TITLE_WEIGHT
from tests.fixtures.writing import ADMIN, DOCS, epoch, put, row_counts, rows, values

EMBEDDED = """select f.text, v.embedding is not null
                from fragment f left join fragment_vector v using (ns, fragment_id) order by 1"""
pytestmark = pytest.mark.usefixtures("ns")


async def test_the_same_source_twice_changes_nothing_and_a_changed_one_is_replaced(store: Store) -> None:
    assert (await put(store, "a.md", "# Первый\n\nтекст")).outcome is Outcome.CREATED
    before = await rows(store, "select fragment_id, text, xmin::text from fragment")
    assert (await put(store, "a.md", "# Первый\n\nтекст")).outcome is Outcome.UNCHANGED
    assert await rows(store, "select fragment_id, text, xmin::text from fragment") == before
    assert (await put(store, "a.md", "# Второй\n\nиной текст")).outcome is Outcome.UPDATED
    assert await rows(store, "select title, text, ordinal from fragment") == [("Второй", "иной текст", 0)]
    assert await values(store, "select content from source") == ["# Второй\n\nиной текст"]


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Иной"},
        {"meta": {"tag": "x"}},
        {"status": "draft"},
        {"relevance_scopes": ["project:alpha"]},
        {"kind": "EPISODE"},
        {"type": "run"},
        {"source_path": "https://example.org/a"},
        {"occurred_at": datetime(2026, 1, 1, tzinfo=UTC)},
        {"origin": Origin(author="Анна")},
        {"attributes": {"owner": "ops"}},
        {"media_type": "text/plain"},
    ],
    ids=lambda change: next(iter(change)),
)
async def test_whatever_is_given_differently_is_an_update(store: Store, change: dict[str, Any]) -> None:
    await put(store, "a.md", "текст")
    assert (await put(store, "a.md", "текст", **change)).outcome is Outcome.UPDATED
    assert (await put(store, "a.md", "текст", **change)).outcome is Outcome.UNCHANGED


async def test_everything_given_is_stored(store: Store) -> None:
    moment = datetime(2026, 3, 1, 12, tzinfo=UTC)
    origin = Origin("wiki", "https://w/a", "Анна", moment)
    result = await put(
        store, "папка/а b%2F", "текст об ERR-42", title="Имя", source_path="/p", kind="EPISODE", type="run", status="done",
        meta={"tag": "x"}, attributes={"owner": "ops"}, relevance_scopes=["project:a"], occurred_at=moment, origin=origin,
    )  # fmt: skip
    assert result.outcome is Outcome.CREATED
    assert await rows(
        store, "select key, kind, type, title, status, source_path, meta, relevance_scopes, occurred_at, acl_id from entity"
    ) == [("папка/а b%2F", "EPISODE", "run", "Имя", "done", "/p", {"tag": "x"}, ["project:a"], moment, 0)]
    assert await rows(store, "select connector, uri, author, fetched_at, media_type, content_source from source") == [
        ("wiki", "https://w/a", "Анна", moment, "text/markdown", "ORIGINAL")
    ]
    assert await rows(store, "select meta, identifiers from fragment") == [({"tag": "x"}, ["err-42"])]
    assert await rows(store, "select words, identifiers, identifier_text from fragment_lexemes") == [
        (3 + TITLE_WEIGHT, ["err-42"], "err-42")
    ]
    assert await rows(store, "select attributes, valid_from = '-infinity' from entity_version") == [({"owner": "ops"}, True)]


async def test_attributes_left_out_keep_the_version_in_force_and_changed_ones_begin_now(store: Store) -> None:
    await put(store, "a", "один", attributes={"n": 1})
    await put(store, "a", "два")
    await put(store, "a", "три", attributes={"n": 1})
    assert await values(store, "select attributes from entity_version") == [{"n": 1}]
    await put(store, "a", "три", attributes={"n": 2})
    assert await rows(store, "select attributes, valid_from > '-infinity' from entity_version order by version_id") == [
        ({"n": 1}, False), ({"n": 2}, True),
    ]  # fmt: skip


async def test_words_count_repetitions(store: Store) -> None:
    await put(store, "a", "кот кот кот и пёс", title="Звери")
    assert await values(store, "select words from fragment_lexemes") == [4 + TITLE_WEIGHT]


async def test_unchanged_fragments_keep_their_vectors_and_only_new_texts_are_embedded(store: Store) -> None:
    await put(store, "a.md", "# Т\n\n## Раз\n\nпервый\n\n## Два\n\nвторой")
    await embed_pending(store, 10)
    embedded = list(store.embedder.passages)
    await put(store, "a.md", "# Т\n\n## Раз\n\nпервый\n\n## Два\n\nизменён")
    assert await values(store, "select count(*) from fragment_vector") == [1]
    await embed_pending(store, 10)
    assert store.embedder.passages[len(embedded) :] == ["Т\nДва\nизменён"]
    await put(store, "a.md", "# Т\n\n## Раз\n\nпервый\n\n## Два\n\nвторой")
    assert await values(store, "select count(*) from embedding_queue") == [0]
    assert await rows(store, EMBEDDED) == [
        ("второй", True), ("первый", True),
    ]  # fmt: skip


async def test_a_document_of_ten_thousand_fragments_is_stored_whole(store: Store) -> None:
    text = "\n\n".join(f"## Раздел {number}\n\nслово{number} число" for number in range(10_000))
    assert (await put(store, "big.md", text)).outcome is Outcome.CREATED
    counts = await row_counts(store)
    assert counts["fragment"] == counts["fragment_lexemes"] == counts["embedding_queue"] == 10_000
    assert await values(store, "select count(distinct ordinal) from fragment") == [10_000]


async def test_links_become_facts_whenever_the_target_arrives_and_go_with_the_link(store: Store) -> None:
    await put(store, "guide/a.md", "см. [b](b.md), [себя](a.md) и [c](../c.md)")
    assert await rows(store, "select target_key, fact_id from link order by 1") == [("c.md", None), ("guide/b.md", None)]
    await put(store, "guide/b.md", "текст")
    named = """select s.key, f.predicate, o.key, f.evidence, f.has_places, p.key, f.retracted_at is null
                 from fact f join entity s on s.entity_id = f.subject_id join entity o on o.entity_id = f.object_id
                 join fact_place using (fact_id) join entity p on p.entity_id = fact_place.entity_id order by f.row_id"""
    assert await rows(store, named) == [("guide/a.md", "links_to", "guide/b.md", 2, True, "guide/a.md", True)]
    await put(store, "guide/a.md", "см. [c](../c.md), [b](b.md) ещё раз")
    assert await values(store, "select count(*) from fact") == [1], "a link that stays keeps its fact"
    await put(store, "guide/a.md", "больше ничего")
    assert await rows(store, named) == [("guide/a.md", "links_to", "guide/b.md", 2, True, "guide/a.md", False)]
    await put(store, "guide/a.md", "снова [b](b.md)")
    assert [row[-1] for row in await rows(store, named)] == [False, True]


async def test_a_replaced_document_hands_its_places_to_its_entity(store: Store, ns: int) -> None:
    await put(store, "a", "Анна ведёт проект")
    (entity_id,), (fragment_id,) = (
        await values(store, "select entity_id from entity"),
        await values(store, "select fragment_id from fragment"),
    )
    async with store.database.writing() as connection:
        await connection.execute(
            "insert into fact_place (ns, fact_id, entity_id, fragment_id) values ($1, 1, $2, $3)", ns, entity_id, fragment_id
        )
    await put(store, "a", "иной текст")
    assert await rows(store, "select entity_id, fragment_id from fact_place") == [(entity_id, None)]


async def test_rights_left_out_stay_and_given_ones_are_on_every_row(store: Store) -> None:
    await upsert_principals(store.database, ADMIN, [PrincipalInput("ann", "USER"), PrincipalInput("bob", "USER")])
    on_rows = """select distinct acl_id from entity union select acl_id from fragment
                 union select acl_id from fragment_lexemes union select acl_id from fragment_vector"""
    readers = "select p.name from acl_grant g join principal p using (principal_id) order by 1"
    await put(store, "a", "тайна", restricted=True, readers=["ann"])
    await embed_pending(store, 10)
    (acl_id,) = await values(store, on_rows)
    assert acl_id > 0
    assert await values(store, readers) == ["ann"]
    assert (await put(store, "a", "другая тайна")).outcome is Outcome.UPDATED
    await embed_pending(store, 10)
    assert (await values(store, on_rows), await values(store, readers)) == ([acl_id], ["ann"])
    before = await epoch(store)
    assert (await put(store, "a", "другая тайна", readers=["bob", "ann"])).outcome is Outcome.UPDATED
    assert (await put(store, "a", "другая тайна", readers=["ann", "bob"])).outcome is Outcome.UNCHANGED
    assert await values(store, readers) == ["ann", "bob"]
    assert await epoch(store) == before + 1
    assert (await put(store, "a", "другая тайна", restricted=False)).outcome is Outcome.UPDATED
    assert (await values(store, on_rows), await values(store, readers)) == ([0], [])
    assert await epoch(store) == before + 2
    assert (await put(store, "a", "другая тайна", restricted=True)).outcome is Outcome.UPDATED
    (again,) = await values(store, on_rows)
    assert again > acl_id, "a new permission set: nobody who read the old one reads this one"
    assert await values(store, readers) == []


async def test_a_refused_source_says_why_and_leaves_nothing(store: Store) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"key": "k" * 2_001}, "2,001"),
        ({"content": " \n\t"}, "empty"),
        ({"media_type": "image/png"}, "image/png"),
        ({"readers": ["nobody"], "restricted": True}, "nobody"),
        ({"readers": ["everyone"]}, "restricted"),
    ]
    for given, says in cases:
        result = await put(store, **({"key": "a", "content": "текст"} | given))
        assert (result.outcome, result.code) == (Outcome.FAILED, "BAD_INPUT")
        assert says in str(result.message)
    assert not any((await row_counts(store)).values())


async def test_nul_is_removed_from_texts_and_tags(store: Store) -> None:
    result = await put(store, "a", "те\x00кст", title="и\x00мя", meta={"t\x00": ["a\x00"]})
    assert result.outcome is Outcome.CREATED
    assert await rows(store, "select title, meta from entity") == [("имя", {"t": ["a"]})]
    assert await values(store, "select content from source") == ["текст"]


async def test_one_bad_source_stops_no_other_and_results_come_in_the_order_given(store: Store) -> None:
    given = [SourceInput("c", "[b](b)"), SourceInput("b", ""), SourceInput("a", "[c](c)"), SourceInput("c", "последний")]
    results = await ingest_many(store.database, store.base, ADMIN, DOCS, given)
    assert [(result.key, result.outcome.value) for result in results] == [
        ("c", "CREATED"), ("b", "FAILED"), ("a", "CREATED"), ("c", "UPDATED"),
    ]  # fmt: skip
    assert await values(store, "select content from source where content like 'п%'") == ["последний"]


async def test_an_unknown_namespace_is_refused_before_anything(store: Store) -> None:
    with pytest.raises(NamespaceNotFound):
        await ingest_many(store.database, store.base, ADMIN, "nowhere", [SourceInput("a", "текст")])


async def test_equal_keys_in_two_namespaces_share_nothing(store: Store) -> None:
    await create_namespace(store.database, ADMIN, "other")
    assert (await put(store, "note-1", "один")).outcome is Outcome.CREATED
    assert (await put(store, "note-1", "два", namespace="other")).outcome is Outcome.CREATED
    assert await rows(store, "select ns, text from fragment order by ns") == [(1, "один"), (2, "два")]


async def test_keys_that_differ_in_composition_only_are_one(store: Store) -> None:
    assert (await put(store, "й.md", "текст")).outcome is Outcome.CREATED
    assert (await put(store, "и\u0306.md", "иной текст")).outcome is Outcome.UPDATED
    assert await values(store, "select count(*) from entity") == [1]
