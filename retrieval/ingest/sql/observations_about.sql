-- The observations about entities: those that facts about them rest on, and those that wait for them.
-- $1 namespace, $2 entities, $3 digests of their keys
with told as materialized (
    select f.fact_id from fact f where f.ns = $1 and f.subject_id = any($2::bigint[]) and f.retracted_at is null
    union
    select f.fact_id from fact f where f.ns = $1 and f.object_id = any($2::bigint[]) and f.retracted_at is null
), place as materialized (
    select p.entity_id from fact_place p where p.ns = $1 and p.fact_id in (select t.fact_id from told t)
    union
    select l.entity_id from link l where l.ns = $1 and l.target_digest = any($3::bytea[])
)
select o.entity_id, o.key_digest
  from entity o
 where o.ns = $1 and o.entity_id in (select p.entity_id from place p) and o.kind = 'OBSERVATION'
