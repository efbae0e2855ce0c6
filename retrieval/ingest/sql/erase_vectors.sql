-- Forgets the vectors kept for entities, whichever text of theirs they were made for, and those of given texts whoever has them.
-- $1 namespace, $2 entities, of each text, once a model: $3 number of the model, $4 digest
delete from vector_cache c
 where c.ns = $1
   and (c.entity_id = any($2::bigint[])
        or (c.model_number, c.digest) in (select t.model_number, t.digest
                                            from unnest($3::int[], $4::bytea[]) as t(model_number, digest)))
