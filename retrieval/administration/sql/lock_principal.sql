-- A principal by name, which nobody else changes before the transaction ends.
-- $1 name
select p.principal_id, p.kind, p.title, p.administrator from principal p where p.name = $1 for no key update
