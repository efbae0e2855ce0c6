-- Entities by the digest of their key.
-- $1-$3 access, of each: $4 namespace, $5 digest
select e.ns, e.entity_id, e.acl_id, e.key_digest, e.key, e.kind, e.type, e.title, e.status, e.source_path, e.meta,
       e.relevance_scopes, e.created_at, e.updated_at, e.occurred_at
  from unnest($4::int[], $5::bytea[]) as a(ns, key_digest)
 cross join lateral (select e.* from entity e where e.ns = a.ns and e.key_digest = a.key_digest limit 1) e
 where visible(e.ns, e.acl_id, $1, $2, $3)
