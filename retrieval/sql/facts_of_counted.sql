-- How many facts of entities hold at an instant as they were recorded at another.
-- $1-$3 access, of each list: $4 namespace, $5 entity id, $6 whether facts about it, $7 whether facts that lead to it (a loop counts
-- once), $8 JSON list of the predicates (null is any), $9 instant of validity, $10 instant of the record (null is now)
-- Who reads a namespace whole counts its facts; who does not, values without places and what the keys of `edge`, `former_edge` and
-- `said` let through, so that what is hidden costs nothing.
select a.list, count(*)::int as n
  from unnest($4::int[], $5::bigint[], $6::boolean[], $7::boolean[], $8::jsonb[], $9::timestamptz[], $10::timestamptz[])
       with ordinality as a(ns, entity_id, outgoing, incoming, predicates, at, known, list)
 cross join lateral (
     select v.entity_id, a.ns = any($3) as is_whole from entity v
      where v.ns = a.ns and v.entity_id = a.entity_id and visible(a.ns, v.acl_id, $1, $2, $3) limit 1) v
 cross join lateral (
     (select f.* from fact f where v.is_whole and a.outgoing and f.ns = a.ns and f.subject_id = v.entity_id)
     union all
     (select f.* from fact f
       where v.is_whole and a.incoming and f.ns = a.ns and f.object_id = v.entity_id
         and not (a.outgoing and f.subject_id = v.entity_id))
     union all
     (select f.* from fact f
       where not v.is_whole and a.outgoing and f.ns = a.ns and f.subject_id = v.entity_id and f.object_id is null
         and not f.has_places)
     union all
     (select f.*
        from (select s.row_id from said s
               where not v.is_whole and a.outgoing and s.ns = a.ns and s.entity_id = v.entity_id
                 and s.is_live = any(case when a.known is null then '{t}' else '{t,f}' end::boolean[])
                 and s.place_acl = any($2)
              union
              select e.row_id
                from unnest(case when a.outgoing and not v.is_whole then '{t}' else '{}'::boolean[] end
                         || case when a.incoming and not v.is_whole then '{f}' else '{}'::boolean[] end) as way(outgoing)
               cross join lateral (
                   select e.row_id from edge e
                    where e.ns = a.ns and e.entity_id = v.entity_id and e.outgoing = way.outgoing
                      and e.far_acl = any($2) and e.place_acl = any($2)
                   union all
                   select e.row_id from former_edge e
                    where a.known is not null and e.ns = a.ns and e.entity_id = v.entity_id and e.outgoing = way.outgoing
                      and e.far_acl = any($2) and e.place_acl = any($2)) e
              offset 0) e
       cross join lateral (select f.* from fact f where f.ns = a.ns and f.row_id = e.row_id limit 1) f)) f
 where (a.predicates is null or a.predicates ? f.predicate)
   and stands(f.valid_from, f.valid_to, f.recorded_at, f.retracted_at, a.at, a.known)
 group by a.list
