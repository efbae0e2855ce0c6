-- The stored content of sources.
-- $1-$3 access, $4 namespaces, $5 entity ids
select s.ns, s.entity_id, s.content
  from source s join entity e on e.ns = s.ns and e.entity_id = s.entity_id
 where s.ns = any($4) and s.entity_id = any($5) and visible(e.ns, e.acl_id, $1, $2, $3)
