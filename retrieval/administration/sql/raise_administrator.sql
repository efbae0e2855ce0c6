-- Makes a principal an administrator; no row when it is one already.
-- $1 name
update principal set administrator = true where name = $1 and not administrator returning principal_id
