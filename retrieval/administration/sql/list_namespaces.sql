-- The namespaces in which a principal holds a role, by itself or through groups; all for an administrator.
-- $1 principal (null for the local administrator), $2 whether it is the local administrator
with recursive stands(principal_id) as (
    select p.principal_id from principal p where p.principal_id = $1
    union
    select p.principal_id from principal p where p.name = 'everyone' and exists (select from principal o where o.principal_id = $1)
    union
    select m.group_id from stands s join membership m on m.member_id = s.principal_id
)
select n.ns, n.name, n.title
  from namespace n
 where $2::boolean or exists (select from principal p where p.principal_id = $1 and p.administrator)
    or exists (select from namespace_role r where r.ns = n.ns and r.principal_id in (select s.principal_id from stands s))
 order by n.name
