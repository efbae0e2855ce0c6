-- The next fragments of the base, in the order of their keys.
-- $1 and $2 namespace and fragment to start after, $3 how many
select f.ns, f.fragment_id, f.title, f.heading, f.text, f.identifiers, f.seal
  from fragment f
 where (f.ns, f.fragment_id) > ($1::int, $2::bigint)
 order by f.ns, f.fragment_id
 limit $3
