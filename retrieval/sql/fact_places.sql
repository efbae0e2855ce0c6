-- The visible entities that stated facts.
-- $1-$3 access, of each: $4 namespace, $5 fact id
select distinct p.ns, p.fact_id, p.entity_id
  from unnest($4::int[], $5::bigint[]) as a(ns, fact_id)
  join fact_place p on p.ns = a.ns and p.fact_id = a.fact_id
  join entity e on e.ns = p.ns and e.entity_id = p.entity_id
 where visible(e.ns, e.acl_id, $1, $2, $3)
 order by p.ns, p.fact_id, p.entity_id
