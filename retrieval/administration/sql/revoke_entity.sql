-- Closes a permission set to a principal; no row when it was closed.
-- $1 namespace, $2 permission set, $3 principal
delete from acl_grant g where g.ns = $1 and g.acl_id = $2 and g.principal_id = $3 returning g.ns
