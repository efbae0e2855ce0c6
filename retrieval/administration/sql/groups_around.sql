-- A principal with every membership that leads up from it, at any depth; one row with null groups when there is none.
-- $1 name
with recursive start as (
    select p.principal_id, p.name, p.kind, p.administrator from principal p where p.name = $1
), stands(principal_id) as (
    select s.principal_id from start s
    union
    select p.principal_id from principal p where p.name = 'everyone' and exists (select from start)
    union
    select m.group_id from stands s join membership m on m.member_id = s.principal_id
)
select o.kind, o.administrator, u.name as member_name, g.name as group_name
  from start o
 cross join stands s
  join principal u on u.principal_id = s.principal_id
  left join membership m on m.member_id = s.principal_id
  left join principal g on g.principal_id = m.group_id
 order by u.name, g.name
