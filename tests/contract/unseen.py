"""Takes out of a base everything that a caller may not see."""

from __future__ import annotations

from retrieval.database import Database
from retrieval.ingest.statistics import refresh_statistics
from tests.contract.oracle import View


async def remove_unseen(url: str, view: View) -> None:
    """Make the base one in which what the caller may not see never was."""
    world, database = view.world, await Database.open(url, size=1)
    entities = view.entities(view.spaces)
    try:
        async with database.writing() as connection:
            kept = [entity.id for entity in entities]
            facts = [fact.row for fact in view.facts(view.spaces)]
            fragments = [fragment.id for fragment in view.fragments(view.spaces)]
            await connection.execute("delete from embedding_queue where fragment_id <> all($1)", fragments)
            await connection.execute("delete from fact where row_id <> all($1)", facts)
            await connection.execute("delete from fact_place where entity_id <> all($1)", kept)
            await connection.execute("delete from entity where entity_id <> all($1)", kept)
            await connection.execute("delete from namespace where ns <> all($1)", [space.ns for space in view.spaces])
            await connection.execute("delete from edge; delete from former_edge; delete from said")
            await connection.execute("select refresh_edges(ns, array_agg(fact_id)) from fact group by ns")
            await connection.execute("delete from acl_grant where acl_id <> all($1)", [entity.acl for entity in entities])
            await connection.execute("delete from principal where principal_id <> all($1)", list(view.stands_for))
            await connection.execute("select bump_rights_epoch()")
        for space in world.namespaces:
            await refresh_statistics(database, space.ns)
    finally:
        await database.close()
