-- One step of a typed walk inside one namespace, all its hops: over which facts of one predicate, valid at an instant, it passes.
-- $1-$3 access, $4 namespace, $5 nodes to start from, $6 nodes that are no news, $7 instant, $8 predicate, $9 whether to follow facts
-- to their object, for each way that is followed, $10 hops, $11 visible edges examined a node and way, $12 how many new nodes in all
-- A row for each hop. A hop goes on from each node once; of new nodes those with the lowest ids are taken.
-- visible() is asked of the number of the namespace and not of the column, so that it folds into conditions on the key.
with recursive walk(hop, front, seen, left_over, nears, fars, facts, cut) as (
    select 0, s.ids, s.ids, $12::int, '{}'::bigint[], '{}'::bigint[], '{}'::bigint[], false
      from (select coalesce(array_agg(v.entity_id order by v.entity_id), '{}') as ids
              from unnest($5::bigint[]) as n(entity_id)
             cross join lateral (select v.entity_id from entity v
                                  where v.ns = $4 and v.entity_id = n.entity_id and visible(v.ns, v.acl_id, $1, $2, $3) limit 1) v) s
    union all
    select w.hop + 1, n.front, w.seen || n.front, w.left_over - n.fresh, n.nears, n.fars, n.facts, n.cut
      from walk w
     cross join lateral (
         with examined as materialized (
             select n.entity_id as near_id, e.far_id, e.row_id, e.valid_from, e.valid_to, e.place
               from unnest(w.front) as n(entity_id)
              cross join unnest($9::boolean[]) as way(outgoing)
              cross join lateral (
                    select e.far_id, e.row_id, e.valid_from, e.valid_to,
                           row_number() over (order by e.far_acl, e.place_acl, e.row_id) as place
                      from edge e
                     where e.ns = $4 and e.entity_id = n.entity_id and e.outgoing = way.outgoing
                       and visible($4, e.far_acl, $1, $2, $3) and visible($4, e.place_acl, $1, $2, $3) and e.predicate = $8
                     order by e.far_acl, e.place_acl, e.row_id
                     limit $11::int + 1) e
         ), passed as materialized (
             select distinct e.near_id, e.far_id, e.row_id
               from examined e
              where e.place <= $11 and (e.valid_from is null or e.valid_from <= $7) and (e.valid_to is null or e.valid_to > $7)
         ), unseen as materialized (
             select p.far_id from passed p except select s.id from unnest(w.seen) as s(id)
         ), fresh as materialized (
             (select u.far_id from unseen u except select k.id from unnest($6::bigint[]) as k(id))
              order by far_id limit w.left_over
         ), front as materialized (
             (select u.far_id from unseen u intersect select k.id from unnest($6::bigint[]) as k(id))
             union all
             select f.far_id from fresh f
         ), left_out as materialized (
             select u.far_id from unseen u except select f.far_id from front f
         )
         select (select coalesce(array_agg(f.far_id order by f.far_id), '{}') from front f) as front,
                (select count(*) from fresh)::int as fresh,
                p.nears, p.fars, p.facts, exists (select from examined e where e.place > $11) as cut
           from (select coalesce(array_agg(p.near_id order by p.row_id, p.near_id), '{}') as nears,
                        coalesce(array_agg(p.far_id order by p.row_id, p.near_id), '{}') as fars,
                        coalesce(array_agg(p.row_id order by p.row_id, p.near_id), '{}') as facts
                   from passed p where p.far_id not in (select l.far_id from left_out l)) p) n
     where w.hop < $10::int and cardinality(w.front) > 0
)
select w.nears, w.fars, w.facts, w.cut from walk w where w.hop > 0 order by w.hop
