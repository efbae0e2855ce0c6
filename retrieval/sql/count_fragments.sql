-- Visible fragments of each namespace.
-- $1-$3 access
select f.ns, count(*)::int as n from fragment_lexemes f where visible(f.ns, f.acl_id, $1, $2, $3) group by f.ns
