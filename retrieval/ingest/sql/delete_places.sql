-- Deletes the places in an entity; gives the facts that were stated there.
-- $1 namespace, $2 entity
delete from fact_place p where p.ns = $1 and p.entity_id = $2 returning p.fact_id
