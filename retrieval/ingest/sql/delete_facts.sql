-- Deletes all recorded rows of facts; a row each.
-- $1 namespace, $2 facts
delete from fact f where f.ns = $1 and f.fact_id = any($2::bigint[]) returning f.fact_id
