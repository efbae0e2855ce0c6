-- Says that an entity changed.
-- $1 namespace, $2 entity
update entity e set updated_at = now() where e.ns = $1 and e.entity_id = $2
