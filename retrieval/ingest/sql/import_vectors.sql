-- Keeps vectors of the base's model that were made elsewhere by the digest of model and text, for as long as the namespace.
-- $1 namespace, $2 digests, $3 vectors
insert into vector_cache (ns, model_number, digest, embedding)
select $1, b.model_number, v.digest, v.embedding
  from unnest($2::bytea[], $3::halfvec[]) as v(digest, embedding) cross join base b
 order by v.digest
on conflict (ns, model_number, digest) do nothing
