-- What is said of some subjects by predicates that hold one value, at an instant as it was recorded at another, by fact; `said` counts
-- the different objects or values of each group.
-- $1-$3 access, of each group: $4 namespace, $5 subject, $6 predicate; $7 instant of validity, $8 instant of the record (null is now),
-- $9 and $10 rule of scopes (requested, allowed), $11 facts that are taken before others, $12 how many of a group
-- Who reads a namespace whole reads its facts; who does not, values without places and what the keys of `edge`, `former_edge` and
-- `said` let through, so that what is hidden costs nothing.
select g.place, f.ns, f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to, f.recorded_at,
       f.retracted_at, f.evidence, nullif(f.relevance_scopes, '{}') as relevance_scopes,
       dense_rank() over (partition by g.place order by f.object_id, f.value) as said
  from unnest($4::int[], $5::bigint[], $6::text[]) with ordinality as g(ns, subject_id, predicate, place)
 cross join lateral (
     select v.entity_id, g.ns = any($3) as is_whole from entity v
      where v.ns = g.ns and v.entity_id = g.subject_id
        and exists (select from predicate d where d.ns = g.ns and d.name = g.predicate and d.cardinality = 'ONE') and visible(g.ns, v.acl_id, $1, $2, $3) limit 1) v
 cross join lateral (
     select f.*
       from (
         select f.* from fact f
          where v.is_whole and f.ns = g.ns and f.subject_id = v.entity_id and f.predicate = g.predicate
         union all
         select f.* from fact f
          where not v.is_whole and f.ns = g.ns and f.subject_id = v.entity_id and f.predicate = g.predicate and f.object_id is null
            and not f.has_places
         union all
         select f.*
           from (select s.row_id from said s
                  where not v.is_whole and s.ns = g.ns and s.entity_id = v.entity_id and s.predicate = g.predicate
                    and s.is_live = any(case when $8::timestamptz is null then '{t}' else '{t,f}' end::boolean[])
                    and s.place_acl = any($2)
                 union
                 select e.row_id from edge e
                  where not v.is_whole and e.ns = g.ns and e.entity_id = v.entity_id and e.outgoing and e.predicate = g.predicate
                    and e.far_acl = any($2) and e.place_acl = any($2)
                 union
                 select e.row_id from former_edge e
                  where not v.is_whole and $8::timestamptz is not null and e.ns = g.ns and e.entity_id = v.entity_id and e.outgoing
                    and e.predicate = g.predicate and e.far_acl = any($2) and e.place_acl = any($2)
                 offset 0) e
          cross join lateral (select f.* from fact f where f.ns = g.ns and f.row_id = e.row_id limit 1) f) f
      where stands(f.valid_from, f.valid_to, f.recorded_at, f.retracted_at, $7, $8) and in_scope(f.relevance_scopes, $9, $10)
      order by f.fact_id = any($11::bigint[]) desc, f.fact_id limit $12) f
 order by g.place, f.fact_id
