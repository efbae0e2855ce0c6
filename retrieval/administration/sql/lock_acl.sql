-- The permission set of an entity, kept from being changed until the transaction ends.
-- $1 namespace, $2 digest of the key
select e.acl_id from entity e where e.ns = $1 and e.key_digest = $2 for share
