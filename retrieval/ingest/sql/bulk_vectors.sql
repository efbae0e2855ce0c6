-- Stores the vectors of unrestricted fragments.
-- $1 namespace, of each: $2 fragment, $3 entity, $4 vector
insert into fragment_vector (ns, fragment_id, entity_id, acl_id, embedding)
select $1, v.fragment_id, v.entity_id, 0, v.embedding
  from unnest($2::bigint[], $3::bigint[], $4::halfvec[]) as v(fragment_id, entity_id, embedding)
