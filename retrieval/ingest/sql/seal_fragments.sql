-- Gives fragments the seals of their texts.
-- $1 namespace, of each fragment: $2 id, $3 seal
update fragment f set seal = g.seal
  from unnest($2::bigint[], $3::bigint[]) as g(fragment_id, seal)
 where f.ns = $1 and f.fragment_id = g.fragment_id and f.seal <> g.seal
