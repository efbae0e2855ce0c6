-- The values that facts in the record hold, each once a predicate.
-- $1 namespace, $2 predicates
select f.predicate, f.value, count(*) as n
  from fact f
 where f.ns = $1 and f.retracted_at is null and f.object_id is null and f.predicate = any($2::text[])
 group by f.predicate, f.value order by f.predicate, f.value
