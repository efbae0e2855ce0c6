-- Entities by id.
-- $1-$3 access, of each: $4 namespace, $5 entity id
select e.ns, e.entity_id, e.acl_id, e.key, e.kind, e.type, e.title, e.status, e.source_path, e.meta, e.relevance_scopes,
       e.created_at, e.updated_at, e.occurred_at
  from unnest($4::int[], $5::bigint[]) as a(ns, entity_id)
 cross join lateral (select e.* from entity e where e.ns = a.ns and e.entity_id = a.entity_id limit 1) e
 where visible(e.ns, e.acl_id, $1, $2, $3)
