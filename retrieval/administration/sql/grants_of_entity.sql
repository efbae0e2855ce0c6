-- The permission set of an entity, and which of some principals hold a grant on it.
-- $1 namespace, $2 digest of the key, $3 names
select e.acl_id,
       array(select p.name from acl_grant g join principal p using (principal_id)
              where g.ns = e.ns and g.acl_id = e.acl_id and e.acl_id <> 0 and p.name = any($3::text[]) order by p.name) as holders
  from entity e
 where e.ns = $1 and e.key_digest = $2
