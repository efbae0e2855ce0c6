-- Takes a role back; no row when it was not held.
-- $1 namespace, $2 principal, $3 role
delete from namespace_role r where r.ns = $1 and r.principal_id = $2 and r.role = $3 returning r.ns
