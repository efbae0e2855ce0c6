-- Facts stated in the fragments of an entity now rest on the entity, until they are stated again.
-- $1 namespace, $2 entity
update fact_place p set fragment_id = null where p.ns = $1 and p.entity_id = $2 and p.fragment_id is not null
