"""Migrations give one schema, from nothing and again, and are never run backwards."""

from __future__ import annotations

import asyncpg
import pytest

from retrieval.migrations import SETTINGS, Unfit, migrations, prepare, settings_in_force
from retrieval.question import FIRST, LAST
from tests.fixtures.bases import Bases
from tests.fixtures.embedders import DIMENSIONS, MODEL
from tests.fixtures.world import migrated

SCHEMA = """
    select 'column', format('%s.%s %s %s %s', c.table_name, c.column_name, c.data_type, c.is_nullable, c.column_default)
      from information_schema.columns c where c.table_schema = 'public'
    union all select 'index', indexdef from pg_indexes where schemaname = 'public'
    union all select 'constraint', format('%s %s', conrelid::regclass, pg_get_constraintdef(oid))
      from pg_constraint where connamespace = 'public'::regnamespace
    union all select 'function', pg_get_functiondef(p.oid) from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
       and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
    union all select 'storage', format('%s %s %s', attrelid::regclass, attname, attstorage) from pg_attribute
     where attrelid in (select oid from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r') and attnum > 0
    union all select 'options', format('%s %s', relname, reloptions) from pg_class where relnamespace = 'public'::regnamespace
    union all select 'trigger', tgname from pg_trigger where not tgisinternal
    union all select 'migration', format('%s %s %s', number, name, digest) from migration
     order by 1, 2
"""


INFINITE = """
    delete from migration where number >= 24;
    insert into namespace (name) values ('n');
    insert into entity (ns, key_digest, key, kind, type, title, occurred_at)
    select ns, '', 'e', 'THING', 't', 'e', '-infinity' from namespace;
    insert into entity_version (ns, entity_id, attributes, valid_from)
    select e.ns, e.entity_id, '{}', v.since::timestamptz from entity e cross join (values ('infinity'), ('-infinity')) v(since);
    insert into fact (ns, fact_id, subject_id, predicate, value, evidence, valid_from, valid_to)
    select ns, 1, entity_id, 'p', '1', 3, '-infinity', 'infinity' from entity;
    insert into token (digest, principal_id, expires_at) select '', principal_id, 'infinity' from principal;
"""


async def schema_of(url: str) -> list[tuple[str, str]]:
    """Everything that a migration can leave behind, as sorted text."""
    connection = await asyncpg.connect(url)
    try:
        return [tuple(row) for row in await connection.fetch(SCHEMA)]
    finally:
        await connection.close()


async def test_a_second_start_changes_nothing(bases: Bases) -> None:
    url = bases.empty()
    first = await migrated(url)
    once = await schema_of(url)
    assert len(once) > 200
    assert await migrated(url) == first
    assert await schema_of(url) == once


async def test_settings_hold_for_new_connections(bases: Bases) -> None:
    url = bases.empty()
    await migrated(url)
    connection = await asyncpg.connect(url)
    try:
        assert await settings_in_force(connection) == SETTINGS
    finally:
        await connection.close()


async def test_a_base_of_a_newer_release_or_other_words_is_refused(bases: Bases) -> None:
    url = bases.empty()
    await migrated(url)
    with pytest.raises(Unfit, match="CB_FTS_CONFIG=russian"):
        await prepare(url, search_config="english", embedding_model=MODEL, dimensions=DIMENSIONS)
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("insert into migration (number, name, digest) values (9999, 'later', '')")
    finally:
        await connection.close()
    with pytest.raises(Unfit, match="newer release"):
        await migrated(url)


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in migrations()] == list(range(1, len(migrations()) + 1))


async def test_instants_that_were_stored_as_infinities_can_be_read_after_an_upgrade(bases: Bases) -> None:
    url = bases.new()
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(INFINITE)
        await migrated(url)
        rows = await connection.fetch(
            "select valid_from, valid_to from fact union all select occurred_at, null from entity "
            "union all select nullif(valid_from, '-infinity'), null from entity_version "
            "union all select null, expires_at from token order by 1, 2"
        )
        assert [tuple(row) for row in rows] == [(FIRST, LAST), (FIRST, None), (LAST, None), (None, LAST), (None, None)]
    finally:
        await connection.close()
