-- One step of a walk inside one namespace: neighbours over facts valid at an instant, with the facts that lead to each.
-- $1-$3 access, $4 namespace, $5 nodes to step from, $6 nodes seen already, $7 instant, $8 visible edges examined a node and direction,
-- $9 how many neighbours
with step as (
    select e.neighbour, e.row_id
      from unnest($5::bigint[]) as n(entity_id)
     cross join lateral (
         (select f.object_id as neighbour, f.row_id, f.fact_id, f.has_places
            from fact f join entity o on o.ns = f.ns and o.entity_id = f.object_id
           where f.ns = $4 and f.subject_id = n.entity_id and f.object_id <> all($6::bigint[])
             and f.retracted_at is null and (f.valid_from is null or f.valid_from <= $7) and (f.valid_to is null or f.valid_to > $7)
             and visible(o.ns, o.acl_id, $1, $2, $3)
             and (not f.has_places or exists (
                  select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
                   where p.ns = f.ns and p.fact_id = f.fact_id and visible(e.ns, e.acl_id, $1, $2, $3)))
           order by f.predicate, f.row_id limit $8)
         union all
         (select f.subject_id, f.row_id, f.fact_id, f.has_places
            from fact f join entity s on s.ns = f.ns and s.entity_id = f.subject_id
           where f.ns = $4 and f.object_id = n.entity_id and f.subject_id <> all($6::bigint[])
             and f.retracted_at is null and (f.valid_from is null or f.valid_from <= $7) and (f.valid_to is null or f.valid_to > $7)
             and visible(s.ns, s.acl_id, $1, $2, $3)
             and (not f.has_places or exists (
                  select from fact_place p join entity e on e.ns = p.ns and e.entity_id = p.entity_id
                   where p.ns = f.ns and p.fact_id = f.fact_id and visible(e.ns, e.acl_id, $1, $2, $3)))
           order by f.predicate, f.row_id limit $8)
     ) e
)
select neighbour, array_agg(distinct row_id order by row_id) as facts
  from step group by neighbour
 order by count(distinct row_id) desc, neighbour
 limit $9
