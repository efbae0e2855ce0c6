-- Lets one refresh of a namespace run at a time; no row when the namespace is gone.
-- $1 namespace
select n.ns from namespace n where n.ns = $1 for no key update
