-- Fragments that still stand, kept from having their permission set changed until the transaction ends.
-- $1 namespace, $2 fragments
select f.fragment_id from fragment f where f.ns = $1 and f.fragment_id = any($2::bigint[]) order by f.fragment_id for share
