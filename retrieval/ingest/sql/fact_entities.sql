-- The entities that facts name, by digest of their key.
-- $1 namespace, $2 digests
select e.entity_id, e.key_digest, e.type from entity e where e.ns = $1 and e.key_digest = any($2::bytea[])
