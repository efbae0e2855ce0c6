-- Removes the readers of a permission set.
-- $1 namespace, $2 permission set
delete from acl_grant g where g.ns = $1 and g.acl_id = $2
