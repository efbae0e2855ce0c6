-- Adds the row of what a service read for a user.
-- $1 user, $2 service, $3 action, $4 names of namespaces, $5 what, $6 request
insert into audit (principal, service, action, namespaces, items, what, request_id)
values ($1, $2, $3, $4::text[], 1, $5::jsonb, $6)
