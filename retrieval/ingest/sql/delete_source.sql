-- Deletes the original of an entity.
-- $1 namespace, $2 entity
delete from source s where s.ns = $1 and s.entity_id = $2
