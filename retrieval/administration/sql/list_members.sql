-- The members of a group.
-- $1 group
select p.name from membership m join principal g on g.principal_id = m.group_id join principal p on p.principal_id = m.member_id
 where g.name = $1 order by p.name
