-- Facts of which a row of before led to or from entities; such rows go with the entities, whether the fact does or not.
-- $1 namespace, $2 entities
select distinct e.fact_id from former_edge e where e.ns = $1 and e.entity_id = any($2::bigint[])
