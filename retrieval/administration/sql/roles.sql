-- The roles of a principal in a namespace, through all its groups.
-- $1 namespace, $2 principal (null for the local administrator, 0 for one without a row), $3 whether it is the local administrator,
-- $4 groups that a signed token names
select n.ns,
       $3::boolean or exists (select from principal p where p.principal_id = $2 and p.administrator) as administrator,
       array(
           with recursive stands(principal_id) as (
               select p.principal_id from principal p where p.principal_id = $2
               union
               select p.principal_id from principal p
                where p.name = 'everyone' and ($2 = 0 or exists (select from principal o where o.principal_id = $2))
               union
               select p.principal_id from principal p
                where p.name = any($4::text[]) and p.kind = 'GROUP'
                  and ($2 = 0 or exists (select from principal o where o.principal_id = $2))
               union
               select m.group_id from stands s join membership m on m.member_id = s.principal_id
           )
           select distinct r.role from namespace_role r
            where r.ns = n.ns and r.principal_id in (select s.principal_id from stands s)
       ) as roles
  from namespace n
 where n.name = $1
