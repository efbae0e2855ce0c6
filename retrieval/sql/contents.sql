-- The stored content of sources, with the title that it is read under.
-- $1-$3 access, of each: $4 namespace, $5 entity id
select s.ns, s.entity_id, s.content, e.title
  from unnest($4::int[], $5::bigint[]) as a(ns, entity_id)
 cross join lateral (select s.* from source s where s.ns = a.ns and s.entity_id = a.entity_id limit 1) s
 cross join lateral (select e.* from entity e where e.ns = s.ns and e.entity_id = s.entity_id limit 1) e
 where visible(e.ns, e.acl_id, $1, $2, $3)
