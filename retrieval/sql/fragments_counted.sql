-- How many fragments each of some entities has.
-- $1-$3 access, $4 namespaces, $5 entity ids
select f.ns, f.entity_id, count(*)::int as n
  from fragment f
 where f.ns = any($4) and f.entity_id = any($5) and visible(f.ns, f.acl_id, $1, $2, $3)
 group by f.ns, f.entity_id
