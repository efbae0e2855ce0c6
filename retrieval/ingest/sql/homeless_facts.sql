-- Those of some facts that have no place left.
-- $1 namespace, $2 facts that had a place
select f.fact_id from unnest($2::bigint[]) as f(fact_id)
 where not exists (select from fact_place p where p.ns = $1 and p.fact_id = f.fact_id)
 group by f.fact_id order by f.fact_id
