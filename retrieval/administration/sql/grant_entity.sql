-- Opens a permission set to a principal; no row when it was open already.
-- $1 namespace, $2 permission set, $3 principal
insert into acl_grant (ns, acl_id, principal_id) values ($1, $2, $3) on conflict do nothing returning ns
