-- Deletes entities.
-- $1 namespace, $2 entities
delete from entity e where e.ns = $1 and e.entity_id = any($2::bigint[])
