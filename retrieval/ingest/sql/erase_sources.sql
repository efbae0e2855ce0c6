-- Deletes the originals of entities.
-- $1 namespace, $2 entities
delete from source s where s.ns = $1 and s.entity_id = any($2::bigint[])
