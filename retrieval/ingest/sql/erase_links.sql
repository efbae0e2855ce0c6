-- Deletes the links of entities, and those of others that lead to them.
-- $1 namespace, $2 entities, $3 digests of their keys
delete from link l where l.ns = $1 and (l.entity_id = any($2::bigint[]) or l.target_digest = any($3::bytea[]))
