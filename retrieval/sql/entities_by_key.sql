-- Entities by the digest of their key.
-- $1-$3 access, $4 namespaces, $5 digests
select e.ns, e.entity_id, e.acl_id, e.key_digest, e.key, e.kind, e.type, e.title, e.status, e.source_path, e.meta,
       e.relevance_scopes, e.created_at, e.updated_at, e.occurred_at
  from entity e
 where e.ns = any($4) and e.key_digest = any($5::bytea[]) and visible(e.ns, e.acl_id, $1, $2, $3)
