-- Facts that speak of an entity, as subject or object.
-- $1 namespace, $2 entity
select f.fact_id from fact f where f.ns = $1 and f.subject_id = $2
union
select f.fact_id from fact f where f.ns = $1 and f.object_id = $2
