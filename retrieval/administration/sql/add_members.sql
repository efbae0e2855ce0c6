-- Adds members to a group; gives those that were none before.
-- $1 group, $2 members
insert into membership (group_id, member_id) select $1, m from unnest($2::int[]) m order by m on conflict do nothing
returning member_id
