-- Deletes the attributes of entities.
-- $1 namespace, $2 entities
delete from entity_version v where v.ns = $1 and v.entity_id = any($2::bigint[])
