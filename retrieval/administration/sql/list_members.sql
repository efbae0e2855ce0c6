-- A group, or what has its name, with its members: a row each, or one with no member; no row for an unknown name.
-- $1 group
select g.kind, p.name from principal g left join (membership m join principal p on p.principal_id = m.member_id) on m.group_id = g.principal_id
 where g.name = $1 order by p.name
