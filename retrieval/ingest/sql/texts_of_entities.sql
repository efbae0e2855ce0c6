-- The texts of the fragments of entities.
-- $1 namespace, $2 entities
select f.title, f.heading, f.text from fragment f where f.ns = $1 and f.entity_id = any($2::bigint[])
