-- The domain packs of namespaces; whoever may read a namespace may read them.
-- $1-$3 access
select p.ns, p.body::text as body from domain_pack p where visible(p.ns, 0, $1, $2, $3) order by p.ns, p.name
