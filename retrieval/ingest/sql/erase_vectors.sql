-- Forgets the vectors kept for entities, whichever text of theirs they were made for, and those of given texts whoever has them.
-- $1 namespace, $2 entities, $3 digests of model and text
delete from vector_cache c where c.ns = $1 and (c.entity_id = any($2::bigint[]) or c.digest = any($3::bytea[]))
