-- An entity, the observations about it (those that facts about it rest on, and those that wait for it), the observations about these,
-- and so on.
-- $1 namespace, $2 entity
with recursive gone as (
    select e.entity_id, e.key_digest from entity e where e.ns = $1 and e.entity_id = $2
    union
    select o.entity_id, o.key_digest
      from gone g
     cross join lateral (
           select p.entity_id from fact f join fact_place p on p.ns = f.ns and p.fact_id = f.fact_id
            where f.ns = $1 and f.subject_id = g.entity_id and f.retracted_at is null
           union all
           select p.entity_id from fact f join fact_place p on p.ns = f.ns and p.fact_id = f.fact_id
            where f.ns = $1 and f.object_id = g.entity_id and f.retracted_at is null
           union all
           select l.entity_id from link l where l.ns = $1 and l.target_digest = g.key_digest) place
      join entity o on o.ns = $1 and o.entity_id = place.entity_id and o.kind = 'OBSERVATION'
)
select e.entity_id from gone g join entity e on e.ns = $1 and e.entity_id = g.entity_id order by e.entity_id
