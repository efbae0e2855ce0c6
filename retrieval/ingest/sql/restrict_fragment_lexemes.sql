-- Gives the indexed words of an entity another permission set.
-- $1 namespace, $2 entity, $3 permission set
update fragment_lexemes r set acl_id = $3 where r.ns = $1 and r.entity_id = $2 and r.acl_id <> $3
