-- A permission set of its own for one restricted entity.
-- no parameters
select nextval('acl_id')::int
