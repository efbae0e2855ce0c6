-- Waits for other writers of the same key; facts that point to the entity may still be written.
-- $1 namespace, $2 digest of the key
select e.entity_id from entity e where e.ns = $1 and e.key_digest = $2 for no key update
