-- Marks the vectors kept for texts that an entity no longer has, and takes the mark from those that it has again.
-- $1 namespace, $2 entity, of each text it has now, once a model: $3 number of the model, $4 digest
with now_used as (
    select u.model_number, u.digest from unnest($3::int[], $4::bytea[]) as u(model_number, digest)
), former as (
    update vector_cache c set former_since = now()
     where c.ns = $1 and c.entity_id = $2 and c.former_since is null
       and not exists (select from now_used u where u.model_number = c.model_number and u.digest = c.digest)
)
update vector_cache c set former_since = null
  from now_used u
 where c.ns = $1 and c.model_number = u.model_number and c.digest = u.digest and c.former_since is not null
