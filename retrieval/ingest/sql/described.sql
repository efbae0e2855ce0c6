-- What is stored of an entity beside its rights, and the digest of its source, null without one.
-- $1 namespace, $2 entity
select e.key, e.kind, e.type, e.title, e.status, e.source_path, e.meta, e.relevance_scopes, e.occurred_at, s.digest
  from entity e left join source s on s.ns = e.ns and s.entity_id = e.entity_id
 where e.ns = $1 and e.entity_id = $2
