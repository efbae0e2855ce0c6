-- Adds readers to a permission set.
-- $1 namespace, $2 permission set, $3 principals
insert into acl_grant (ns, acl_id, principal_id) select $1, $2, p from unnest($3::int[]) p order by p on conflict do nothing
