-- The roles that some principals hold in a namespace themselves.
-- $1 namespace, $2 names
select r.role, p.name from namespace_role r join principal p using (principal_id)
 where r.ns = $1 and p.name = any($2::text[]) order by r.role, p.name
