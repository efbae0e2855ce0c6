-- The packs of a namespace, kept from other writers until the transaction ends.
-- $1 namespace
select p.name, p.body::text as body from domain_pack p where p.ns = $1 order by p.name for update
