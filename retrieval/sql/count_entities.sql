-- Visible entities of each namespace.
-- $1-$3 access
select e.ns, count(*)::int as n from entity e where visible(e.ns, e.acl_id, $1, $2, $3) group by e.ns
