-- A namespace by name, which cannot be deleted before the transaction ends.
-- $1 name
select n.ns from namespace n where n.name = $1 for key share
