-- Forgets vectors of texts that have been gone for long.
-- $1 seconds, $2 how many at most
delete from vector_cache c using (
    select f.ns, f.model_number, f.digest from vector_cache f
     where f.former_since < now() - make_interval(secs => $1) limit $2) gone
 where c.ns = gone.ns and c.model_number = gone.model_number and c.digest = gone.digest
