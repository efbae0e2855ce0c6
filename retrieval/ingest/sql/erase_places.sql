-- Deletes the places in entities; gives the facts that were stated there.
-- $1 namespace, $2 entities
delete from fact_place p where p.ns = $1 and p.entity_id = any($2::bigint[]) returning p.fact_id
