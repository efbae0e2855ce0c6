-- Stores a pack without some of its aliases; its version stays.
-- $1 namespace, $2 name, $3 digest, $4 body
update domain_pack p set digest = $3, body = $4::jsonb where p.ns = $1 and p.name = $2
