-- Deletes the fragments of entities, with their words.
-- $1 namespace, $2 entities
delete from fragment f where f.ns = $1 and f.entity_id = any($2::bigint[])
