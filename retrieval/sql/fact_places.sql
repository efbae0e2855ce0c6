-- The visible entities that stated facts.
-- $1-$3 access, $4 namespaces, $5 fact ids
select distinct p.ns, p.fact_id, p.entity_id
  from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
 where p.ns = any($4) and p.fact_id = any($5) and visible(e.ns, e.acl_id, $1, $2, $3)
 order by p.ns, p.fact_id, p.entity_id
