-- Keeps vectors that were made elsewhere by the digest of model and text, for as long as the namespace.
-- $1 namespace, $2 digests, $3 vectors
insert into vector_cache (ns, digest, embedding)
select $1, v.digest, v.embedding
  from unnest($2::bytea[], $3::halfvec[]) as v(digest, embedding)
 order by v.digest
on conflict (ns, digest) do nothing
