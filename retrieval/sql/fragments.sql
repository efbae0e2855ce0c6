-- Fragments by id, each with its entity.
-- $1-$3 access, $4 namespaces, $5 fragment ids
select f.fragment_id, f.ordinal, f.title as fragment_title, f.heading, f.text, f.meta as fragment_meta, f.identifiers,
       e.ns, e.entity_id, e.acl_id, e.key, e.kind, e.type, e.title, e.status, e.source_path, e.meta, e.relevance_scopes,
       e.created_at, e.updated_at, e.occurred_at
  from fragment f join entity e on e.ns = f.ns and e.entity_id = f.entity_id
 where f.ns = any($4) and f.fragment_id = any($5)
   and visible(f.ns, f.acl_id, $1, $2, $3) and visible(e.ns, e.acl_id, $1, $2, $3)
