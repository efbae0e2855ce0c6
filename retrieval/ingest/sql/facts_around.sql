-- Facts that speak of entities, as subject or object, in any row that was ever recorded; and facts that were stated in no other place.
-- $1 namespace, $2 entities
select f.fact_id from fact f where f.ns = $1 and f.subject_id = any($2::bigint[])
union
select f.fact_id from fact f where f.ns = $1 and f.object_id = any($2::bigint[])
union
select p.fact_id from fact_place p
 where p.ns = $1 and p.entity_id = any($2::bigint[])
   and not exists (select from fact_place o where o.ns = p.ns and o.fact_id = p.fact_id and o.entity_id <> all($2::bigint[]))
