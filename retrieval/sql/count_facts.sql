-- Visible facts of each namespace that are not retracted.
-- $1-$3 access
select f.ns, count(*)::int as n
  from fact f
  join entity s on s.ns = f.ns and s.entity_id = f.subject_id
  left join entity o on o.ns = f.ns and o.entity_id = f.object_id
 where f.ns = any($1) and f.retracted_at is null
   and visible(s.ns, s.acl_id, $1, $2, $3)
   and (f.object_id is null or visible(o.ns, o.acl_id, $1, $2, $3))
   and (not f.has_places or exists (
        select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
         where p.ns = f.ns and p.fact_id = f.fact_id and visible(e.ns, e.acl_id, $1, $2, $3)))
 group by f.ns
