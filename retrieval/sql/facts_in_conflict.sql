-- The facts that say something else than given ones of the same subject by a predicate that holds one value, where both hold at an
-- instant as they were recorded at another, oldest first.
-- $1-$3 access, of each: $4 namespace, $5 row id, $6 instant of validity, $7 instant of the record (null is now), $8 how many at most
-- Who reads a namespace whole reads its facts; who does not, values without places and what the keys of `edge`, `former_edge` and
-- `said` let through, so that what is hidden costs nothing.
select a.place, f.ns, f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to, f.recorded_at,
       f.retracted_at, f.evidence, nullif(f.relevance_scopes, '{}') as relevance_scopes
  from unnest($4::int[], $5::bigint[], $6::timestamptz[], $7::timestamptz[]) with ordinality as a(ns, row_id, at, known, place)
 cross join lateral (
     select f.ns, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.ns = any($3) as is_whole
       from fact f
      where f.ns = a.ns and f.row_id = a.row_id
        and (f.valid_from is null or f.valid_from <= a.at) and (f.valid_to is null or f.valid_to > a.at)
        and case when a.known is null then f.retracted_at is null
                 else f.recorded_at <= a.known and (f.retracted_at is null or f.retracted_at > a.known) end
        and exists (select from predicate d where d.ns = f.ns and d.name = f.predicate and d.cardinality = 'ONE')
        and exists (select from entity s where s.ns = f.ns and s.entity_id = f.subject_id and visible(a.ns, s.acl_id, $1, $2, $3))
        and (f.object_id is null or exists (
             select from entity o where o.ns = f.ns and o.entity_id = f.object_id and visible(a.ns, o.acl_id, $1, $2, $3)))
        and (not f.has_places or exists (
             select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
              where p.ns = f.ns and p.fact_id = f.fact_id and visible(a.ns, e.acl_id, $1, $2, $3) offset 0))
      limit 1) one
 cross join lateral (
     select f.*
       from (
         select f.* from fact f
          where one.is_whole and f.ns = one.ns and f.subject_id = one.subject_id and f.predicate = one.predicate
         union all
         select f.* from fact f
          where not one.is_whole and f.ns = one.ns and f.subject_id = one.subject_id and f.predicate = one.predicate and f.object_id is null
            and not f.has_places
         union all
         select f.*
           from (select s.row_id from said s
                  where not one.is_whole and s.ns = one.ns and s.entity_id = one.subject_id and s.predicate = one.predicate
                    and s.is_live = any(case when a.known is null then '{t}' else '{t,f}' end::boolean[])
                    and s.place_acl = any($2)
                 union
                 select e.row_id from edge e
                  where not one.is_whole and e.ns = one.ns and e.entity_id = one.subject_id and e.outgoing and e.predicate = one.predicate
                    and e.far_acl = any($2) and e.place_acl = any($2)
                 union
                 select e.row_id from former_edge e
                  where not one.is_whole and a.known is not null and e.ns = one.ns and e.entity_id = one.subject_id and e.outgoing
                    and e.predicate = one.predicate and e.far_acl = any($2) and e.place_acl = any($2)
                 offset 0) e
          cross join lateral (select f.* from fact f where f.ns = one.ns and f.row_id = e.row_id limit 1) f) f
      where f.fact_id <> one.fact_id and (f.object_id is distinct from one.object_id or f.value is distinct from one.value)
        and stands(f.valid_from, f.valid_to, f.recorded_at, f.retracted_at, a.at, a.known)
      order by f.fact_id limit $8) f
 order by a.place, f.fact_id
