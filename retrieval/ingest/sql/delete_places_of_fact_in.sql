-- Forgets that facts were stated in some entities.
-- $1 namespace, of each: $2 fact, $3 entity
delete from fact_place p using unnest($2::bigint[], $3::bigint[]) as g(fact_id, entity_id)
 where p.ns = $1 and p.fact_id = g.fact_id and p.entity_id = g.entity_id
