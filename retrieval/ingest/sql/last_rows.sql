-- The last row of each of some facts, in the record or retracted.
-- $1 namespace, $2 facts
select f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to, f.evidence,
       f.relevance_scopes, f.supersedes, f.has_places, f.retracted_at
  from unnest($2::bigint[]) as g(fact_id)
 cross join lateral (select f.* from fact f where f.ns = $1 and f.fact_id = g.fact_id
                      order by f.retracted_at is null desc, f.row_id desc limit 1) f
