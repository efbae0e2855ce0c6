-- The entities that stated facts.
-- $1 namespace, $2 facts
select p.fact_id, p.entity_id from fact_place p where p.ns = $1 and p.fact_id = any($2::bigint[])
