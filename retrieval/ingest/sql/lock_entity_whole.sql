-- An entity that is about to be deleted: waits for every writer that touches it, also those whose facts point to it.
-- $1 namespace, $2 digest of the key
select e.entity_id from entity e where e.ns = $1 and e.key_digest = $2 for update
