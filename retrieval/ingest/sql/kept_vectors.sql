-- Which digests have a vector already.
-- $1 namespace, $2 digests, $3 number of the model
select c.digest from vector_cache c where c.ns = $1 and c.model_number = $3 and c.digest = any($2::bytea[])
