-- Links that had become one of these facts wait for their target again.
-- $1 namespace, $2 facts
update link l set fact_id = null where l.ns = $1 and l.fact_id = any($2::bigint[])
