-- Who holds what in a namespace: roles first, then restricted entities.
-- $1 namespace, $2 name of the principal (null is all)
select p.name as principal, p.kind, r.role, null::text as entity_key
  from namespace_role r join principal p using (principal_id)
 where r.ns = $1 and ($2::text is null or p.name = $2)
union all
select p.name, p.kind, 'READER', e.key
  from acl_grant g join principal p using (principal_id) join entity e on e.ns = g.ns and e.acl_id = g.acl_id
 where g.ns = $1 and ($2::text is null or p.name = $2)
 order by entity_key nulls first, principal, role
