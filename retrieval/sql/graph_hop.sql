-- One step of a walk inside one namespace: where facts valid at an instant lead from some nodes, and by which of them.
-- $1-$3 access, $4 namespace, $5 nodes to step from, $6 nodes seen already, $7 instant, $8 predicates (null is any),
-- $9 whether to follow facts to their object, for each way that is followed, $10 visible edges examined a node and way,
-- $11 how many new nodes
-- Rows of three kinds: a new node, a node seen already (`is_new` false), and one without node where edges were left unexamined.
-- visible() is asked of the number of the namespace and not of the column, so that it folds into conditions on the key.
with examined as materialized (
    select e.far_id, e.row_id, e.valid_from, e.valid_to, e.place
      from unnest($5::bigint[]) as n(entity_id)
     cross join lateral (select v.entity_id from entity v
                          where v.ns = $4 and v.entity_id = n.entity_id and visible(v.ns, v.acl_id, $1, $2, $3) limit 1) v
     cross join unnest($9::boolean[]) as way(outgoing)
     cross join lateral (
           select e.far_id, e.row_id, e.valid_from, e.valid_to,
                  row_number() over (order by e.far_acl, e.place_acl, e.predicate, e.row_id) as place
             from edge e
            where e.ns = $4 and e.entity_id = v.entity_id and e.outgoing = way.outgoing
              and visible($4, e.far_acl, $1, $2, $3) and visible($4, e.place_acl, $1, $2, $3)
              and ($8::text[] is null or e.predicate = any($8::text[]))
            order by e.far_acl, e.place_acl, e.predicate, e.row_id
            limit $10::int + 1) e
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
