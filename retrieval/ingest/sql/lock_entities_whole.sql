-- Entities that are about to be deleted: waits for every writer that touches them, also those whose facts point to them.
-- $1 namespace, $2 entities
select e.entity_id, e.key, e.key_digest, e.acl_id from entity e
 where e.ns = $1 and e.entity_id = any($2::bigint[]) order by e.entity_id for update
