-- How many facts in the record were stated in entities.
-- $1-$3 access, $4 namespaces, $5 entity ids
select v.ns, v.entity_id, count(distinct f.fact_id)::int as n
  from entity v
  join fact_place t on t.ns = v.ns and t.entity_id = v.entity_id
  join fact f on f.ns = t.ns and f.fact_id = t.fact_id and f.retracted_at is null
 where v.ns = any($4) and v.entity_id = any($5) and visible(v.ns, v.acl_id, $1, $2, $3)
   and exists (select from entity s where s.ns = f.ns and s.entity_id = f.subject_id and visible(s.ns, s.acl_id, $1, $2, $3))
   and (f.object_id is null or exists (
        select from entity o where o.ns = f.ns and o.entity_id = f.object_id and visible(o.ns, o.acl_id, $1, $2, $3)))
 group by v.ns, v.entity_id
