-- The stored content of sources.
-- $1-$3 access, of each: $4 namespace, $5 entity id
select s.ns, s.entity_id, s.content
  from unnest($4::int[], $5::bigint[]) as a(ns, entity_id)
  join source s on s.ns = a.ns and s.entity_id = a.entity_id
  join entity e on e.ns = s.ns and e.entity_id = s.entity_id
 where visible(e.ns, e.acl_id, $1, $2, $3)
