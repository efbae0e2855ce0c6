-- How many facts in the record were stated in entities.
-- $1-$3 access, of each: $4 namespace, $5 entity id
select a.ns, a.entity_id, count(distinct f.fact_id)::int as n
  from unnest($4::int[], $5::bigint[]) as a(ns, entity_id)
 cross join lateral (
     select v.entity_id from entity v
      where v.ns = a.ns and v.entity_id = a.entity_id and visible(a.ns, v.acl_id, $1, $2, $3) limit 1) v
  join fact_place t on t.ns = a.ns and t.entity_id = v.entity_id
  join fact f on f.ns = a.ns and f.fact_id = t.fact_id and f.retracted_at is null
 where exists (select from entity s where s.ns = a.ns and s.entity_id = f.subject_id and visible(a.ns, s.acl_id, $1, $2, $3))
   and (f.object_id is null or exists (
        select from entity o where o.ns = a.ns and o.entity_id = f.object_id and visible(a.ns, o.acl_id, $1, $2, $3)))
 group by a.ns, a.entity_id
