-- An entity that gets another type than it has: waits for every writer of facts that lead to it or from it.
-- $1 namespace, $2 entity, $3 the type it gets
select from entity e where e.ns = $1 and e.entity_id = $2 and e.type <> $3 for update
