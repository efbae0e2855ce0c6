-- Pages of the fragments of entities, each in the order of the text.
-- $1-$3 access, of each page: $4 namespace, $5 entity id, $6 ordinal to start after, $7 how many
select p.page, f.fragment_id, f.ordinal, f.title as fragment_title, f.heading, f.text, f.meta as fragment_meta, f.identifiers, f.seal,
       e.ns, e.entity_id, e.acl_id, e.key, e.kind, e.type, e.title, e.status, e.source_path, e.meta, e.relevance_scopes,
       e.created_at, e.updated_at, e.occurred_at
  from unnest($4::int[], $5::bigint[], $6::int[], $7::int[]) with ordinality as p(ns, entity_id, after, first, page)
  join entity e on e.ns = p.ns and e.entity_id = p.entity_id
 cross join lateral (
     select f.* from fragment f
      where f.ns = p.ns and f.entity_id = p.entity_id and f.ordinal > p.after and visible(f.ns, f.acl_id, $1, $2, $3)
      order by f.ordinal limit p.first) f
 where visible(e.ns, e.acl_id, $1, $2, $3)
