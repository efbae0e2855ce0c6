-- Keeps entities that facts name from being deleted or given another type until the transaction ends.
-- $1 namespace, $2 digests
select from entity e where e.ns = $1 and e.key_digest = any($2::bytea[]) order by e.entity_id for key share
