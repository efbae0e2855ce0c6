-- What is said of some subjects by predicates that hold one value, at an instant as it was recorded at another, by fact; `said` counts
-- the different objects or values of each group.
-- $1-$3 access, of each group: $4 namespace, $5 subject, $6 predicate; $7 instant of validity, $8 instant of the record (null is now),
-- $9 and $10 rule of scopes (requested, allowed), $11 facts that are taken before others, $12 how many of a group
select g.place, f.ns, f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to, f.recorded_at,
       f.retracted_at, f.evidence, f.relevance_scopes,
       dense_rank() over (partition by g.place order by f.object_id, f.value) as said
  from unnest($4::int[], $5::bigint[], $6::text[]) with ordinality as g(ns, subject_id, predicate, place)
 cross join lateral (
     select v.entity_id from entity v
      where v.ns = g.ns and v.entity_id = g.subject_id and visible(g.ns, v.acl_id, $1, $2, $3) limit 1) v
 cross join lateral (
     select f.*
       from fact f
      where f.ns = g.ns and f.subject_id = v.entity_id and f.predicate = g.predicate
        and (f.valid_from is null or f.valid_from <= $7) and (f.valid_to is null or f.valid_to > $7)
        and case when $8::timestamptz is null then f.retracted_at is null
                 else f.recorded_at <= $8 and (f.retracted_at is null or f.retracted_at > $8) end
        and in_scope(f.relevance_scopes, $9, $10)
        and (f.object_id is null or exists (
             select from entity o where o.ns = f.ns and o.entity_id = f.object_id and visible(g.ns, o.acl_id, $1, $2, $3)))
        and (not f.has_places or exists (
             select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
              where p.ns = f.ns and p.fact_id = f.fact_id and visible(g.ns, e.acl_id, $1, $2, $3) offset 0))
      order by f.fact_id = any($11::bigint[]) desc, f.fact_id limit $12) f
 order by g.place, f.fact_id
