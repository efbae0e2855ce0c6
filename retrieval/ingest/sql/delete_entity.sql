-- Deletes an entity; gives its permission set.
-- $1 namespace, $2 entity
delete from entity e where e.ns = $1 and e.entity_id = $2 returning e.acl_id
