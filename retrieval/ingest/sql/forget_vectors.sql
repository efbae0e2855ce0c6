-- Forgets the vectors that were kept for the texts of an entity.
-- $1 namespace, $2 entity
delete from vector_cache c where c.ns = $1 and c.entity_id = $2
