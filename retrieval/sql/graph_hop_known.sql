-- One step of a walk as in graph_hop, over facts as they were recorded at an instant.
-- $1-$3 access, $4 namespace, $5 nodes to step from, $6 nodes seen already, $7 instant of validity, $8 predicates (null is any),
-- $9 whether to follow facts to their object, for each way that is followed, $10 visible facts examined a node and way,
-- $11 how many new nodes, $12 instant of the record
-- Edges are kept of the present record only, so facts are read: in the order of predicate and fact, and what is hidden is looked up.
with examined as materialized (
    select e.far_id, e.row_id, e.valid_from, e.valid_to, e.place
      from unnest($5::bigint[]) as n(entity_id)
     cross join lateral (select v.entity_id from entity v
                          where v.ns = $4 and v.entity_id = n.entity_id and visible(v.ns, v.acl_id, $1, $2, $3) limit 1) v
     cross join unnest($9::boolean[]) as way(outgoing)
     cross join lateral (
         (select f.object_id as far_id, f.row_id, f.valid_from, f.valid_to, row_number() over (order by f.predicate, f.fact_id) as place
            from fact f
           where way.outgoing and f.ns = $4 and f.subject_id = v.entity_id and f.object_id is not null
             and f.recorded_at <= $12 and (f.retracted_at is null or f.retracted_at > $12)
             and ($8::text[] is null or f.predicate = any($8::text[]))
             and exists (select from entity o where o.ns = f.ns and o.entity_id = f.object_id and visible(o.ns, o.acl_id, $1, $2, $3))
             and (not f.has_places or exists (
                  select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
                   where p.ns = f.ns and p.fact_id = f.fact_id and visible(e.ns, e.acl_id, $1, $2, $3) offset 0))
           order by f.predicate, f.fact_id limit $10::int + 1)
         union all
         (select f.subject_id, f.row_id, f.valid_from, f.valid_to, row_number() over (order by f.predicate, f.fact_id)
            from fact f
           where not way.outgoing and f.ns = $4 and f.object_id = v.entity_id
             and f.recorded_at <= $12 and (f.retracted_at is null or f.retracted_at > $12)
             and ($8::text[] is null or f.predicate = any($8::text[]))
             and exists (select from entity s where s.ns = f.ns and s.entity_id = f.subject_id and visible(s.ns, s.acl_id, $1, $2, $3))
             and (not f.has_places or exists (
                  select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
                   where p.ns = f.ns and p.fact_id = f.fact_id and visible(e.ns, e.acl_id, $1, $2, $3) offset 0))
           order by f.predicate, f.fact_id limit $10::int + 1)) e
), reached as materialized (
    select e.far_id as neighbour, array_agg(distinct e.row_id order by e.row_id) as facts
      from examined e
     where e.place <= $10 and (e.valid_from is null or e.valid_from <= $7) and (e.valid_to is null or e.valid_to > $7)
     group by e.far_id
)
(select r.neighbour, r.facts, true as is_new from reached r where r.neighbour <> all($6::bigint[])
  order by cardinality(r.facts) desc, r.neighbour limit $11)
union all
(select r.neighbour, r.facts, false from reached r where r.neighbour = any($6::bigint[]) order by r.neighbour)
union all
(select null, null, null from examined e where e.place > $10 limit 1)
