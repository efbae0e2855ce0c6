-- One step of a walk as in graph_hop, over facts as they were recorded at an instant.
-- $1-$3 access, of each node to step from: $4 namespace, $5 id; of each node seen already: $6 namespace, $7 id; $8 instant of
-- validity, $9 predicates (null is any), $10 whether to follow facts to their object, for each way that is followed, $11 visible
-- edges examined a node and way, $12 how many new nodes in all, $13 instant of the record
-- Word for word graph_hop but for the edges, which a test compares.
with examined as materialized (
    select v.ns, e.far_id, e.row_id, e.valid_from, e.valid_to, e.place
      from unnest($4::int[], $5::bigint[]) as n(ns, entity_id)
     cross join lateral (
           select v.ns, v.entity_id, v.ns = any($3) as is_whole, $9::text[] is null as is_any
             from (select v.ns, v.entity_id, v.acl_id from entity v
                    where v.ns = n.ns and v.entity_id = n.entity_id limit 1) v
            where visible(v.ns, v.acl_id, $1, $2, $3)) v
     cross join unnest($10::boolean[]) as way(outgoing)
     cross join lateral (
         select e.*, row_number() over () as place
           from (
             (select e.far_id, e.row_id, e.valid_from, e.valid_to from edges_known($13) e
               where v.is_whole and v.is_any and e.ns = v.ns and e.entity_id = v.entity_id and e.outgoing = way.outgoing
               order by e.far_acl, e.place_acl, e.predicate, e.row_id limit $11::int + 1)
             union all
             (select e.far_id, e.row_id, e.valid_from, e.valid_to from edges_known($13) e
               where v.is_whole and not v.is_any and e.ns = v.ns and e.entity_id = v.entity_id and e.outgoing = way.outgoing
                 and e.predicate = any($9)
               order by e.far_acl, e.place_acl, e.predicate, e.row_id limit $11::int + 1)
             union all
             (select e.far_id, e.row_id, e.valid_from, e.valid_to from edges_known($13) e
               where not v.is_whole and v.is_any and e.ns = v.ns and e.entity_id = v.entity_id and e.outgoing = way.outgoing
                 and e.far_acl = any($2) and e.place_acl = any($2)
               order by e.far_acl, e.place_acl, e.predicate, e.row_id limit $11::int + 1)
             union all
             (select e.far_id, e.row_id, e.valid_from, e.valid_to from edges_known($13) e
               where not v.is_whole and not v.is_any and e.ns = v.ns and e.entity_id = v.entity_id and e.outgoing = way.outgoing
                 and e.far_acl = any($2) and e.place_acl = any($2) and e.predicate = any($9)
               order by e.far_acl, e.place_acl, e.predicate, e.row_id limit $11::int + 1)) e) e
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
