-- What is stored under a key: digest of the source (null without one), permission set and its readers.
-- $1 namespace, $2 digest of the key
select e.entity_id, e.acl_id, s.digest,
       array(select p.name from acl_grant g join principal p using (principal_id)
              where g.ns = e.ns and g.acl_id = e.acl_id and e.acl_id <> 0) as readers
  from entity e left join source s on s.ns = e.ns and s.entity_id = e.entity_id
 where e.ns = $1 and e.key_digest = $2
