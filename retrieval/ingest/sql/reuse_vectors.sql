-- Gives fragments the vectors that are kept for the same text and model; gives those that got one.
-- $1 namespace, $2 entity, $3 permission set, $4 fragments, $5 digest of each, $6 number of the model
insert into fragment_vector (ns, fragment_id, entity_id, acl_id, embedding)
select c.ns, g.fragment_id, $2, $3, c.embedding
  from unnest($4::bigint[], $5::bytea[]) as g(fragment_id, digest)
  join vector_cache c on c.ns = $1 and c.model_number = $6 and c.digest = g.digest
returning fragment_id
