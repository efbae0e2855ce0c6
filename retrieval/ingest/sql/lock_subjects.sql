-- Keeps other writers of facts about some entities away until the transaction ends; gives those that are there.
-- $1 namespace, $2 entities
select e.entity_id from entity e where e.ns = $1 and e.entity_id = any($2::bigint[]) order by e.entity_id for no key update
