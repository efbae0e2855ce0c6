-- The ends that facts in the record have, by predicate and types; the object is null where there is a value.
-- $1 namespace, $2 predicates
select f.predicate, s.type as subject_type, o.type as object_type, count(*) as n, min(s.key) as example
  from fact f
  join entity s on s.ns = f.ns and s.entity_id = f.subject_id
  left join entity o on o.ns = f.ns and o.entity_id = f.object_id
 where f.ns = $1 and f.retracted_at is null and f.predicate = any($2::text[])
 group by f.predicate, s.type, o.type order by f.predicate, s.type, o.type
