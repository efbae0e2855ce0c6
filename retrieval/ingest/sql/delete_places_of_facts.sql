-- Deletes all places of facts.
-- $1 namespace, $2 facts
delete from fact_place p where p.ns = $1 and p.fact_id = any($2::bigint[])
