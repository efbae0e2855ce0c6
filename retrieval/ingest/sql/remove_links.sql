-- Removes the links of an entity that its text no longer has; gives the facts that they had become.
-- $1 namespace, $2 entity, $3 digests of the targets that stay
delete from link l where l.ns = $1 and l.entity_id = $2 and l.target_digest <> all($3::bytea[]) returning l.fact_id
