-- Whether a principal is an administrator of the server.
-- $1 principal
select coalesce((select p.administrator from principal p where p.principal_id = $1), false)
