-- Fragments by id, each with its entity.
-- $1-$3 access, of each: $4 namespace, $5 fragment id
-- Joined by both and not compared with lists, for which a kept plan may read a whole namespace.
select f.fragment_id, f.ordinal, f.title as fragment_title, f.heading, f.text, f.meta as fragment_meta, f.identifiers,
       e.ns, e.entity_id, e.acl_id, e.key, e.kind, e.type, e.title, e.status, e.source_path, e.meta, e.relevance_scopes,
       e.created_at, e.updated_at, e.occurred_at
  from unnest($4::int[], $5::bigint[]) as a(ns, fragment_id)
  join fragment f on f.ns = a.ns and f.fragment_id = a.fragment_id
  join entity e on e.ns = f.ns and e.entity_id = f.entity_id
 where visible(f.ns, f.acl_id, $1, $2, $3) and visible(e.ns, e.acl_id, $1, $2, $3)
