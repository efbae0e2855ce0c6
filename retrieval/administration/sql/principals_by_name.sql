-- Principals by name, which cannot be deleted before the transaction ends.
-- $1 names
select p.principal_id, p.name, p.kind from principal p where p.name = any($1::text[]) order by p.principal_id for key share
