-- Keeps new vectors by model and digest of their text, for as long as the entity they were made for.
-- $1 namespace, $2 digests, $3 vectors, $4 entities, $5 number of the model
insert into vector_cache as c (ns, model_number, digest, embedding, entity_id)
select $1, $5, v.digest, v.embedding, e.entity_id
  from unnest($2::bytea[], $3::halfvec[], $4::bigint[]) as v(digest, embedding, entity_id)
  join entity e on e.ns = $1 and e.entity_id = v.entity_id
 order by v.digest
on conflict (ns, model_number, digest) do nothing
