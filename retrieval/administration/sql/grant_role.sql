-- Gives a role; no row when it was held already.
-- $1 namespace, $2 principal, $3 role
insert into namespace_role (ns, principal_id, role) values ($1, $2, $3) on conflict do nothing returning ns
