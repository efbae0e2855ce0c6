-- Deletes the links of an entity.
-- $1 namespace, $2 entity
delete from link l where l.ns = $1 and l.entity_id = $2
