-- The facts of some subjects and predicates that are in the record.
-- $1 namespace, of each pair: $2 subject, $3 predicate
select f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to, f.evidence,
       f.relevance_scopes, f.supersedes, f.has_places
  from unnest($2::bigint[], $3::text[]) as p(subject_id, predicate)
 cross join lateral (select f.* from fact f
                      where f.ns = $1 and f.subject_id = p.subject_id and f.predicate = p.predicate and f.retracted_at is null
                     offset 0) f
