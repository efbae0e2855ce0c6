-- Gives held fragments the vectors that are kept for their texts.
-- $1 namespace, $2 fragments, $3 digest of each, $4 number of the model
insert into fragment_vector (ns, fragment_id, entity_id, acl_id, embedding)
select f.ns, f.fragment_id, f.entity_id, f.acl_id, c.embedding
  from unnest($2::bigint[], $3::bytea[]) as g(fragment_id, digest)
  join fragment f on f.ns = $1 and f.fragment_id = g.fragment_id
  join vector_cache c on c.ns = $1 and c.model_number = $4 and c.digest = g.digest
 order by f.fragment_id
on conflict (ns, fragment_id) do nothing
