"""Personal data are flagged on sources, and neither words nor identifiers nor texts to embed hold them."""

from __future__ import annotations

import asyncio

import pytest

from retrieval.ingest.indexing import indexed
from retrieval.ingest.remasking import Remasked, remask
from retrieval.store import Store
from tests.fixtures.writing import put, rows, values

pytestmark = pytest.mark.usefixtures("ns")
CARD = "4012888888881881"
TEXT = f"# Клиент Иванов\n\nКарта {CARD}, почта ann@example.com, inn7707083893 и ещё ann@example.com."
INDEX = "select lexemes::text, identifiers, identifier_text, words from fragment_lexemes order by fragment_id"
UNMASKED = """
    update fragment_lexemes set lexemes = to_tsvector('russian', 'карта 4012888888881881'), identifiers = '{inn7707083893}',
                                identifier_text = 'inn7707083893'
     where fragment_id = (select min(fragment_id) from fragment)"""
SHOWN = "select identifiers, personal_data from fragment join source using (ns, entity_id) order by fragment_id"


def quiet(done: int, total: int) -> None:
    """Progress that nobody looks at."""


async def test_a_source_is_flagged_with_kinds_and_counts_and_nothing_of_them_is_indexed(store: Store) -> None:
    await put(store, "client", TEXT)
    await put(store, "other", "Ничего личного, заказ 12")
    flags = await values(store, "select personal_data from source order by entity_id")
    assert flags == [[{"kind": "CARD", "count": 1}, {"kind": "EMAIL", "count": 2}, {"kind": "INN", "count": 1}], []]
    index = str(await rows(store, INDEX))
    assert "email" in index
    assert not any(part in index for part in (CARD, "7707083893", "example"))
    assert await values(store, "select content from source order by entity_id limit 1") == [TEXT]


def test_what_is_embedded_is_masked() -> None:
    form = indexed("Об ann@example.com", f"Карта {CARD}", "ИНН 7707083893")
    assert form.embedded == "Об [EMAIL]\nКарта [CARD]\nИНН [INN]"


async def test_a_base_from_before_is_brought_in_line_once(store: Store) -> None:
    await put(store, "client", TEXT)
    await put(store, "other", "Ничего личного, заказ 12")
    fresh = await rows(store, INDEX), await rows(store, SHOWN)
    async with store.database.writing() as connection:
        await connection.execute(UNMASKED)
        await connection.execute("update fragment set identifiers = identifiers || '{inn7707083893}' where text like '%Карта%'")
        await connection.execute("update source set personal_data = '[]'")
        await connection.execute("delete from embedding_queue")
    assert await remask(store.database, quiet) == Remasked(fragments=1, sources=1)
    anew = await rows(store, INDEX), await rows(store, SHOWN)
    assert sorted(map(str, anew[0])) == sorted(map(str, fresh[0]))
    assert sorted(map(str, anew[1])) == sorted(map(str, fresh[1]))
    assert await values(store, "select count(*) from embedding_queue") == [1]
    assert await remask(store.database, quiet) == Remasked(fragments=0, sources=0)


class Killed(Exception):
    """Raised midway."""


def killed(done: int, total: int) -> None:
    """Progress that ends the run as a kill would, between two batches."""
    raise Killed


async def spoil(store: Store) -> None:
    """Make the base as one that was filled before personal data were masked."""
    async with store.database.writing() as connection:
        await connection.execute(
            "update fragment_lexemes set lexemes = to_tsvector('russian', 'карта 4012888888881881'), "
            "identifiers = '{inn7707083893}', identifier_text = 'inn7707083893'"
        )
        await connection.execute("update fragment set identifiers = identifiers || '{inn7707083893}'")
        await connection.execute("update source set personal_data = '[]'")


async def test_a_run_that_was_killed_is_taken_up_by_the_next(store: Store) -> None:
    for number in range(3):
        await put(store, f"client-{number}", f"{TEXT} {number}")
    fresh = sorted(map(str, await rows(store, INDEX))), sorted(map(str, await rows(store, SHOWN)))
    await spoil(store)
    with pytest.raises(Killed):
        await remask(store.database, killed)
    done = await remask(store.database, quiet)
    assert (done.fragments, done.sources) == (0, 3)  # what was committed before the kill is not done again
    assert (sorted(map(str, await rows(store, INDEX))), sorted(map(str, await rows(store, SHOWN)))) == fresh
    assert await remask(store.database, quiet) == Remasked(fragments=0, sources=0)


async def test_texts_that_are_replaced_during_a_run_end_masked_and_whole(store: Store) -> None:
    for number in range(6):
        await put(store, f"client-{number}", f"{TEXT} {number}")
    await spoil(store)

    async def rewrite() -> None:
        for number in range(6):
            await put(store, f"client-{number}", f"{TEXT} снова {number}")

    await asyncio.gather(remask(store.database, quiet), rewrite())
    held = await rows(store, INDEX), await rows(store, SHOWN)
    assert await remask(store.database, quiet) == Remasked(fragments=0, sources=0)
    assert (await rows(store, INDEX), await rows(store, SHOWN)) == held
    assert not any(part in str(held[0]) for part in (CARD, "7707083893", "example"))
    assert len(held[0]) == len(held[1])


async def test_no_marks_of_a_base_from_before_are_missing_once_it_is_masked(store: Store) -> None:
    await put(store, "client", TEXT)
    marks = "select unnest(identifiers) from fragment_lexemes order by 1"
    fresh = await values(store, marks)
    assert len([one for one in fresh if one.startswith("@")]) == 3
    await spoil(store)
    await remask(store.database, quiet)
    assert await values(store, marks) == fresh
