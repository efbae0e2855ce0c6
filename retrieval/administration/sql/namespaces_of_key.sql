-- The namespaces that have an entity under a key, by name.
-- $1 digest of the key, $2 how many at most
select n.name
  from namespace n
 where exists (select from entity e where e.ns = n.ns and e.key_digest = $1)
 order by n.name limit $2
