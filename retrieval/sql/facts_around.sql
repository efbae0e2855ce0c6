-- The facts that touch some entities and hold at an instant as they were recorded at another: by distance, then evidence, then latest
-- start, then namespace and fact; and whether their predicate holds one value.
-- $1-$3 access, of each entity: $4 namespace, $5 entity id, $6 distance from 0; $7 instant of validity, $8 instant of the record
-- (null is now), $9 and $10 rule of scopes (requested, allowed), $11 how many, $12 the largest distance, $13 from how many visible
-- facts of an entity on, each way and among values that have places, these are read in order
-- A step reads the facts of entities at one distance, of each entity and way no more than could be among the first ones, and none is
-- taken when what lies nearer is enough. A fact that touches two of the entities counts once, where it is nearer.
-- Where few are visible they are read by the keys of `edge`, `former_edge` and `said`, since in order one might pass by any number of
-- hidden ones.
-- Whoever reads the namespace whole sees all ends and places, so nobody looks them up for that reader.
-- "offset 0" looks the places of each fact up: without it the planner may read all places of the base once, for one fact.
-- visible() is asked of the namespace that was given, so that a kept plan looks each entity up by its key.
with recursive read(distance, spaces, rows, distances) as (
    select 0, '{}'::int[], '{}'::bigint[], '{}'::int[]
    union all
    select r.distance + 1, r.spaces || best.spaces, r.rows || best.rows, r.distances || best.distances
      from read r
     cross join lateral (
         select coalesce(array_agg(f.ns), '{}') as spaces, coalesce(array_agg(f.row_id), '{}') as rows,
                coalesce(array_agg(f.distance), '{}') as distances
           from (
             select f.ns, f.row_id, r.distance + 1 as distance
               from unnest($4::int[], $5::bigint[], $6::int[]) as n(ns, entity_id, distance)
              cross join lateral (
                  select v.ns, v.entity_id, v.ns = any($3::int[]) as is_whole from entity v
                   where v.ns = n.ns and v.entity_id = n.entity_id and visible(n.ns, v.acl_id, $1, $2, $3) limit 1) v
              cross join lateral (
                  select v.is_whole or $13::int <= (select count(*) from (
                             select from said s where s.ns = v.ns and s.entity_id = v.entity_id and s.is_live
                                and s.place_acl = any($2) limit $13::int) s) as stated,
                         v.is_whole or $13::int <= (select count(*) from (
                             select from edge e where e.ns = v.ns and e.entity_id = v.entity_id and e.outgoing
                                and e.far_acl = any($2) and e.place_acl = any($2) limit $13::int) e) as outgoing,
                         v.is_whole or $13::int <= (select count(*) from (
                             select from edge e where e.ns = v.ns and e.entity_id = v.entity_id and not e.outgoing
                                and e.far_acl = any($2) and e.place_acl = any($2) limit $13::int) e) as incoming
                  offset 0) many
              cross join lateral (
                  (select f.ns, f.row_id, f.fact_id, f.evidence, f.valid_from from fact f
                    where f.ns = v.ns and f.subject_id = v.entity_id and f.object_id is null and not f.has_places
                      and stands(f.valid_from, f.valid_to, f.recorded_at, f.retracted_at, $7, $8)
                      and in_scope(f.relevance_scopes, $9, $10)
                    order by f.evidence desc, f.valid_from desc nulls last, f.fact_id limit $11)
                  union all
                  (select f.ns, f.row_id, f.fact_id, f.evidence, f.valid_from from fact f
                    where many.stated and f.ns = v.ns and f.subject_id = v.entity_id and f.object_id is null and f.has_places
                      and stands(f.valid_from, f.valid_to, f.recorded_at, f.retracted_at, $7, $8)
                      and in_scope(f.relevance_scopes, $9, $10)
                      and (v.is_whole or exists (
                          select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
                           where p.ns = f.ns and p.fact_id = f.fact_id and visible(n.ns, e.acl_id, $1, $2, $3) offset 0))
                    order by f.evidence desc, f.valid_from desc nulls last, f.fact_id limit $11)
                  union all
                  (select f.ns, f.row_id, f.fact_id, f.evidence, f.valid_from from fact f
                    where many.outgoing and f.ns = v.ns and f.subject_id = v.entity_id and f.object_id is not null
                      and stands(f.valid_from, f.valid_to, f.recorded_at, f.retracted_at, $7, $8)
                      and in_scope(f.relevance_scopes, $9, $10)
                      and (v.is_whole or exists (select from entity o
                                   where o.ns = f.ns and o.entity_id = f.object_id and visible(n.ns, o.acl_id, $1, $2, $3) offset 0))
                      and (v.is_whole or not f.has_places or exists (
                           select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
                            where p.ns = f.ns and p.fact_id = f.fact_id and visible(n.ns, e.acl_id, $1, $2, $3) offset 0))
                    order by f.evidence desc, f.valid_from desc nulls last, f.fact_id limit $11)
                  union all
                  (select f.ns, f.row_id, f.fact_id, f.evidence, f.valid_from from fact f
                    where many.incoming and f.ns = v.ns and f.object_id = v.entity_id
                      and stands(f.valid_from, f.valid_to, f.recorded_at, f.retracted_at, $7, $8)
                      and in_scope(f.relevance_scopes, $9, $10)
                      and (v.is_whole or exists (select from entity s
                                   where s.ns = f.ns and s.entity_id = f.subject_id and visible(n.ns, s.acl_id, $1, $2, $3) offset 0))
                      and (v.is_whole or not f.has_places or exists (
                           select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
                            where p.ns = f.ns and p.fact_id = f.fact_id and visible(n.ns, e.acl_id, $1, $2, $3) offset 0))
                    order by f.evidence desc, f.valid_from desc nulls last, f.fact_id limit $11)
                  union all
                  (select f.ns, f.row_id, f.fact_id, f.evidence, f.valid_from
                     from (select s.row_id from said s
                            where not many.stated and s.ns = v.ns and s.entity_id = v.entity_id
                              and s.is_live = any(case when $8 is null then '{t}' else '{t,f}' end::boolean[])
                              and s.place_acl = any($2)
                           union
                           select e.row_id
                             from unnest(case when many.outgoing then '{}' else '{t}'::boolean[] end
                                      || case when many.incoming then '{}' else '{f}'::boolean[] end) as way(outgoing)
                            cross join lateral (
                                select e.row_id from edge e
                                 where e.ns = v.ns and e.entity_id = v.entity_id and e.outgoing = way.outgoing
                                   and e.far_acl = any($2) and e.place_acl = any($2)
                                union all
                                select e.row_id from former_edge e
                                 where $8 is not null and e.ns = v.ns and e.entity_id = v.entity_id and e.outgoing = way.outgoing
                                   and e.far_acl = any($2) and e.place_acl = any($2)) e
                           offset 0) e
                    cross join lateral (
                        select f.* from fact f where f.ns = v.ns and f.row_id = e.row_id limit 1) f
                    where stands(f.valid_from, f.valid_to, f.recorded_at, f.retracted_at, $7, $8)
                      and in_scope(f.relevance_scopes, $9, $10)
                    order by f.evidence desc, f.valid_from desc nulls last, f.fact_id limit $11)) f
              where n.distance = r.distance and f.row_id <> all(r.rows)
              group by f.ns, f.row_id, f.fact_id, f.evidence, f.valid_from
              order by f.evidence desc, f.valid_from desc nulls last, f.ns, f.fact_id
              limit $11) f) best
     where r.distance <= $12::int and cardinality(r.rows) < $11
)
select f.ns, f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to, f.recorded_at,
       f.retracted_at, f.evidence, nullif(f.relevance_scopes, '{}') as relevance_scopes, n.distance,
       exists (select from predicate d where d.ns = f.ns and d.name = f.predicate and d.cardinality = 'ONE') as is_single
  from (select r.spaces, r.rows, r.distances from read r order by r.distance desc limit 1) r
 cross join unnest(r.spaces, r.rows, r.distances) as n(ns, row_id, distance)
 cross join lateral (select f.* from fact f where f.ns = n.ns and f.row_id = n.row_id limit 1) f
 order by n.distance, f.evidence desc, f.valid_from desc nulls last, f.ns, f.fact_id
 limit $11
