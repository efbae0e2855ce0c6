-- Sources by the id of their entity, without the content.
-- $1-$3 access, of each: $4 namespace, $5 entity id
select s.content_source, s.media_type, s.content_sha256, s.connector, s.uri, s.author, s.fetched_at, s.personal_data,
       (select count(*)::int from fragment f where f.ns = s.ns and f.entity_id = s.entity_id) as fragment_count,
       e.ns, e.entity_id, e.acl_id, e.key, e.kind, e.type, e.title, e.status, e.source_path, e.meta, e.relevance_scopes,
       e.created_at, e.updated_at, e.occurred_at
  from unnest($4::int[], $5::bigint[]) as a(ns, entity_id)
 cross join lateral (select s.* from source s where s.ns = a.ns and s.entity_id = a.entity_id limit 1) s
 cross join lateral (select e.* from entity e where e.ns = s.ns and e.entity_id = s.entity_id limit 1) e
 where visible(e.ns, e.acl_id, $1, $2, $3)
