-- Which digests have a vector already.
-- $1 namespace, $2 digests
select c.digest from vector_cache c where c.ns = $1 and c.digest = any($2::bytea[])
