-- The facts that say something else than given ones of the same subject by a predicate that holds one value, where both hold at an
-- instant as they were recorded at another, oldest first.
-- $1-$3 access, of each: $4 namespace, $5 row id, $6 instant of validity, $7 instant of the record (null is now), $8 how many at most
select a.place, f.ns, f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to, f.recorded_at,
       f.retracted_at, f.evidence, f.relevance_scopes
  from unnest($4::int[], $5::bigint[], $6::timestamptz[], $7::timestamptz[]) with ordinality as a(ns, row_id, at, known, place)
 cross join lateral (
     select f.ns, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value
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
       from fact f
      where f.ns = one.ns and f.subject_id = one.subject_id and f.predicate = one.predicate and f.fact_id <> one.fact_id
        and (f.object_id is distinct from one.object_id or f.value is distinct from one.value)
        and (f.valid_from is null or f.valid_from <= a.at) and (f.valid_to is null or f.valid_to > a.at)
        and case when a.known is null then f.retracted_at is null
                 else f.recorded_at <= a.known and (f.retracted_at is null or f.retracted_at > a.known) end
        and (f.object_id is null or exists (
             select from entity o where o.ns = f.ns and o.entity_id = f.object_id and visible(a.ns, o.acl_id, $1, $2, $3)))
        and (not f.has_places or exists (
             select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
              where p.ns = f.ns and p.fact_id = f.fact_id and visible(a.ns, e.acl_id, $1, $2, $3) offset 0))
      order by f.fact_id limit $8) f
 order by a.place, f.fact_id
