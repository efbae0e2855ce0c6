-- A page of the fragments of one entity, in the order of the text.
-- $1-$3 access, $4 namespace, $5 entity id, $6 ordinal to start after, $7 how many
select f.fragment_id, f.ordinal, f.title as fragment_title, f.heading, f.text, f.meta as fragment_meta, f.identifiers,
       e.ns, e.entity_id, e.acl_id, e.key, e.kind, e.type, e.title, e.status, e.source_path, e.meta, e.relevance_scopes,
       e.created_at, e.updated_at, e.occurred_at
  from fragment f join entity e on e.ns = f.ns and e.entity_id = f.entity_id
 where f.ns = $4 and f.entity_id = $5 and f.ordinal > $6
   and visible(f.ns, f.acl_id, $1, $2, $3) and visible(e.ns, e.acl_id, $1, $2, $3)
 order by f.ordinal limit $7
