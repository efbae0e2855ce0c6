-- Fragments by id, each with its entity.
-- $1-$3 access, of each: $4 namespace, $5 fragment id
-- Joined by both and not compared with lists, for which a kept plan may read a whole namespace; one by one, since a plan that was
-- made of an empty base joins what is asked with all entities of the namespace first.
select f.fragment_id, f.ordinal, f.title as fragment_title, f.heading, f.text, f.meta as fragment_meta, f.identifiers, f.seal,
       e.ns, e.entity_id, e.acl_id, e.key, e.kind, e.type, e.title, e.status, e.source_path, e.meta, e.relevance_scopes,
       e.created_at, e.updated_at, e.occurred_at
  from unnest($4::int[], $5::bigint[]) as a(ns, fragment_id)
 cross join lateral (select f.* from fragment f where f.ns = a.ns and f.fragment_id = a.fragment_id limit 1) f
 cross join lateral (select e.* from entity e where e.ns = f.ns and e.entity_id = f.entity_id limit 1) e
 where visible(f.ns, f.acl_id, $1, $2, $3) and visible(e.ns, e.acl_id, $1, $2, $3)
