-- One step of a walk as in graph_hop, over facts as they were recorded at an instant.
-- $1-$3 access, of each node to step from: $4 namespace, $5 id; of each node seen already: $6 namespace, $7 id; $8 instant of
-- validity, $9 predicates (null is any), $10 whether to follow facts to their object, for each way that is followed, $11 visible
-- facts examined a node and way, $12 how many new nodes in all, $13 instant of the record
-- Edges are kept of the present record only, so facts are read: in the order of predicate and fact, and what is hidden is looked up.
with examined as materialized (
    select v.ns, e.far_id, e.row_id, e.valid_from, e.valid_to, e.place
      from unnest($4::int[], $5::bigint[]) as n(ns, entity_id)
     cross join lateral (select v.ns, v.entity_id from entity v
                          where v.ns = n.ns and v.entity_id = n.entity_id and visible(v.ns, v.acl_id, $1, $2, $3) limit 1) v
     cross join unnest($10::boolean[]) as way(outgoing)
     cross join lateral (
         (select f.object_id as far_id, f.row_id, f.valid_from, f.valid_to, row_number() over (order by f.predicate, f.fact_id) as place
            from fact f
           where way.outgoing and f.ns = v.ns and f.subject_id = v.entity_id and f.object_id is not null
             and f.recorded_at <= $13 and (f.retracted_at is null or f.retracted_at > $13)
             and ($9::text[] is null or f.predicate = any($9::text[]))
             and exists (select from entity o where o.ns = f.ns and o.entity_id = f.object_id and visible(o.ns, o.acl_id, $1, $2, $3))
             and (not f.has_places or exists (
                  select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
                   where p.ns = f.ns and p.fact_id = f.fact_id and visible(e.ns, e.acl_id, $1, $2, $3) offset 0))
           order by f.predicate, f.fact_id limit $11::int + 1)
         union all
         (select f.subject_id, f.row_id, f.valid_from, f.valid_to, row_number() over (order by f.predicate, f.fact_id)
            from fact f
           where not way.outgoing and f.ns = v.ns and f.object_id = v.entity_id
             and f.recorded_at <= $13 and (f.retracted_at is null or f.retracted_at > $13)
             and ($9::text[] is null or f.predicate = any($9::text[]))
             and exists (select from entity s where s.ns = f.ns and s.entity_id = f.subject_id and visible(s.ns, s.acl_id, $1, $2, $3))
             and (not f.has_places or exists (
                  select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
                   where p.ns = f.ns and p.fact_id = f.fact_id and visible(e.ns, e.acl_id, $1, $2, $3) offset 0))
           order by f.predicate, f.fact_id limit $11::int + 1)) e
), reached as materialized (
    select e.ns, e.far_id as neighbour, array_agg(distinct e.row_id order by e.row_id) as facts,
           (e.ns, e.far_id) not in (select s.ns, s.id from unnest($6::int[], $7::bigint[]) as s(ns, id)) as is_new
      from examined e
     where e.place <= $11 and (e.valid_from is null or e.valid_from <= $8) and (e.valid_to is null or e.valid_to > $8)
     group by e.ns, e.far_id
)
(select r.ns, r.neighbour, r.facts, r.is_new from reached r where r.is_new
  order by cardinality(r.facts) desc, r.ns, r.neighbour limit $12)
union all
(select r.ns, r.neighbour, r.facts, r.is_new from reached r where not r.is_new order by r.ns, r.neighbour)
union all
(select null, null, null, null from examined e where e.place > $11 limit 1)
