-- Removes the members of a group that are not listed.
-- $1 group, $2 members that stay
delete from membership m using principal p
 where m.group_id = $1 and m.member_id <> all($2::int[]) and p.principal_id = m.member_id
returning p.name
