-- Notes where facts were stated.
-- $1 namespace, of each: $2 fact, $3 entity
insert into fact_place (ns, fact_id, entity_id)
select $1, p.fact_id, p.entity_id from unnest($2::bigint[], $3::bigint[]) as p(fact_id, entity_id) order by p.fact_id, p.entity_id
