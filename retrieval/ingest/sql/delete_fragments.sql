-- Deletes the fragments of an entity, with their words and vectors.
-- $1 namespace, $2 entity
delete from fragment f where f.ns = $1 and f.entity_id = $2
