-- Those of some subjects and predicates of which a fact in the record was asserted to take the place of others.
-- $1 namespace, of each pair: $2 subject, $3 predicate
select p.subject_id, p.predicate
  from unnest($2::bigint[], $3::text[]) as p(subject_id, predicate)
 where exists (select from fact f where f.ns = $1 and f.subject_id = p.subject_id and f.predicate = p.predicate and f.supersedes
                                    and f.retracted_at is null)
