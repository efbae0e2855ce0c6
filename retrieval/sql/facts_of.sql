-- Pages of the facts of entities that hold at an instant as they were recorded at another, each by predicate, then by fact.
-- $1-$3 access, of each page: $4 namespace, $5 entity id, $6 whether facts about it, $7 whether facts that lead to it (a loop counts
-- as about it when both), $8 JSON list of the predicates (null is any), $9 instant of validity, $10 instant of the record (null is now),
-- $11 and $12 predicate and fact id to start after, $13 how many, $14 from how many visible facts of an entity on, each way, these are
-- read in order
-- Values without places are as open as their subject and are read in order. Where few others are visible they are read by the keys of
-- `edge`, `former_edge` and `said`, since in order one might pass by any number of hidden ones.
-- Whoever reads the namespace whole sees all ends and places, so nobody looks them up for that reader. An edge says when its fact
-- holds, so that one that does not is not looked up either.
-- visible() is asked of the namespace of the page, so that an entity is looked up by one namespace and not by all that are open.
-- "offset 0" looks the places of each fact up: without it the planner may read all places of the base once, for one fact.
select a.page, f.ns, f.row_id, f.fact_id, f.subject_id, f.predicate, f.object_id, f.value, f.valid_from, f.valid_to, f.recorded_at,
       f.retracted_at, f.evidence, nullif(f.relevance_scopes, '{}') as relevance_scopes
  from unnest($4::int[], $5::bigint[], $6::boolean[], $7::boolean[], $8::jsonb[], $9::timestamptz[], $10::timestamptz[], $11::text[],
              $12::bigint[], $13::int[])
       with ordinality as a(ns, entity_id, outgoing, incoming, predicates, at, known, after_predicate, after_fact, first, page)
 cross join lateral (
     select v.entity_id, a.ns = any($3) as is_whole from entity v
      where v.ns = a.ns and v.entity_id = a.entity_id and visible(a.ns, v.acl_id, $1, $2, $3) limit 1) v
 cross join lateral (
     select a.outgoing and (v.is_whole or $14::int <= (select count(*) from (
                select from edge e where e.ns = a.ns and e.entity_id = v.entity_id and e.outgoing
                   and e.far_acl = any($2) and e.place_acl = any($2) limit $14::int) e)
                or $14::int <= (select count(*) from (
                select from said s where s.ns = a.ns and s.entity_id = v.entity_id and s.is_live
                   and s.place_acl = any($2) limit $14::int) s)) as outgoing,
            a.incoming and (v.is_whole or $14::int <= (select count(*) from (
                select from edge e where e.ns = a.ns and e.entity_id = v.entity_id and not e.outgoing
                   and e.far_acl = any($2) and e.place_acl = any($2) limit $14::int) e)) as incoming
     offset 0) many
 cross join lateral (
     select f.* from (
        (select f.* from fact f
          where a.outgoing and not many.outgoing and f.ns = a.ns and f.subject_id = v.entity_id and f.object_id is null
            and not f.has_places
            and (a.predicates is null or a.predicates ? f.predicate)
            and stands(f.valid_from, f.valid_to, f.recorded_at, f.retracted_at, a.at, a.known)
            and (a.after_fact is null or (f.predicate, f.fact_id) > (a.after_predicate, a.after_fact))
          order by f.predicate, f.fact_id limit a.first)
        union all
        (select f.* from fact f
          where many.outgoing and f.ns = a.ns and f.subject_id = v.entity_id
            and (a.predicates is null or a.predicates ? f.predicate)
            and stands(f.valid_from, f.valid_to, f.recorded_at, f.retracted_at, a.at, a.known)
            and (a.after_fact is null or (f.predicate, f.fact_id) > (a.after_predicate, a.after_fact))
            and (v.is_whole or f.object_id is null or exists (
                 select from entity o where o.ns = a.ns and o.entity_id = f.object_id and visible(a.ns, o.acl_id, $1, $2, $3)))
            and (v.is_whole or not f.has_places or exists (
                 select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
                  where p.ns = f.ns and p.fact_id = f.fact_id and visible(a.ns, e.acl_id, $1, $2, $3) offset 0))
          order by f.predicate, f.fact_id limit a.first)
        union all
        (select f.* from fact f
          where many.incoming and f.ns = a.ns and f.object_id = v.entity_id and not (a.outgoing and f.subject_id = v.entity_id)
            and (a.predicates is null or a.predicates ? f.predicate)
            and stands(f.valid_from, f.valid_to, f.recorded_at, f.retracted_at, a.at, a.known)
            and (a.after_fact is null or (f.predicate, f.fact_id) > (a.after_predicate, a.after_fact))
            and (v.is_whole or exists (
                 select from entity s where s.ns = a.ns and s.entity_id = f.subject_id and visible(a.ns, s.acl_id, $1, $2, $3)))
            and (v.is_whole or not f.has_places or exists (
                 select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
                  where p.ns = f.ns and p.fact_id = f.fact_id and visible(a.ns, e.acl_id, $1, $2, $3) offset 0))
          order by f.predicate, f.fact_id limit a.first)
        union all
        (select f.*
           from (select s.row_id from said s
                  where a.outgoing and not many.outgoing and s.ns = a.ns and s.entity_id = v.entity_id
                    and s.is_live = any(case when a.known is null then '{t}' else '{t,f}' end::boolean[])
                    and s.place_acl = any($2)
                 union
                 select e.row_id
                   from unnest(case when a.outgoing and not many.outgoing then '{t}' else '{}'::boolean[] end
                            || case when a.incoming and not many.incoming then '{f}' else '{}'::boolean[] end) as way(outgoing)
                  cross join lateral (
                      select e.row_id from edge e
                       where e.ns = a.ns and e.entity_id = v.entity_id and e.outgoing = way.outgoing
                         and e.far_acl = any($2) and e.place_acl = any($2)
                         and (e.valid_from is null or e.valid_from <= a.at) and (e.valid_to is null or e.valid_to > a.at)
                         and (a.predicates is null or a.predicates ? e.predicate)
                      union all
                      select e.row_id from former_edge e
                       where a.known is not null and e.ns = a.ns and e.entity_id = v.entity_id and e.outgoing = way.outgoing
                         and e.far_acl = any($2) and e.place_acl = any($2)) e
                 offset 0) e
          cross join lateral (select f.* from fact f where f.ns = a.ns and f.row_id = e.row_id limit 1) f
          where (a.outgoing and not many.outgoing or a.incoming and not many.incoming)
            and not (many.outgoing and f.subject_id = v.entity_id)
            and (a.predicates is null or a.predicates ? f.predicate)
            and stands(f.valid_from, f.valid_to, f.recorded_at, f.retracted_at, a.at, a.known)
            and (a.after_fact is null or (f.predicate, f.fact_id) > (a.after_predicate, a.after_fact))
          order by f.predicate, f.fact_id limit a.first)) f
      order by f.predicate, f.fact_id limit a.first) f
 order by a.page, f.predicate, f.fact_id
