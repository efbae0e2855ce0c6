-- Removes the readers of permission sets.
-- $1 namespace, $2 permission sets
delete from acl_grant g where g.ns = $1 and g.acl_id = any($2::int[])
