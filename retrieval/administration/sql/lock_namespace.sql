-- Waits for every write under way in a namespace and keeps new ones out until the transaction ends.
-- $1 namespace
select from namespace n where n.ns = $1 for update
