-- The facts in the record that say the same as others.
-- $1 namespace, of each: $2 subject, $3 predicate, $4 object, $5 JSON text of the value
-- "+ 0" and "|| ''" have them looked up by what they say and not by subject and predicate, of which there may be any number.
select f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to, f.evidence,
       f.relevance_scopes, f.supersedes, f.has_places
  from unnest($2::bigint[], $3::text[], $4::bigint[], $5::jsonb[]) as g(subject_id, predicate, object_id, value)
 cross join lateral (select f.* from fact f
                      where saying(f.ns, f.subject_id, f.predicate, f.object_id, f.value)
                            = saying($1, g.subject_id, g.predicate, g.object_id, g.value)
                        and f.retracted_at is null and f.ns + 0 = $1 and f.subject_id + 0 = g.subject_id
                        and f.predicate || '' = g.predicate and f.object_id is not distinct from g.object_id
                        and f.value is not distinct from g.value
                     offset 0) f
