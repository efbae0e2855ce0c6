-- The texts of claimed fragments.
-- $1 namespace, $2 fragments
select f.ns, f.fragment_id, f.entity_id, f.title, f.heading, f.text
  from fragment f
 where f.ns = $1 and f.fragment_id = any($2::bigint[])
 order by f.fragment_id
