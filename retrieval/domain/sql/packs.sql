-- The packs of a namespace, by name.
-- $1 namespace
select p.name, p.version, p.body::text as body, p.applied_at from domain_pack p where p.ns = $1 order by p.name
