-- Removes the links of an entity that it no longer has, or no longer in this manner; gives the facts that they had become.
-- $1 namespace, $2 entity, $3 digests of the targets that stay, $4 predicate, $5 valid from, $6 relevance scopes
delete from link l
 where l.ns = $1 and l.entity_id = $2 and l.predicate = $4
   and (l.target_digest <> all($3::bytea[]) or l.valid_from is distinct from $5 or l.relevance_scopes <> $6)
returning l.fact_id
