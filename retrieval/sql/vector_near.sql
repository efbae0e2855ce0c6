-- Nearest fragments through the index, which goes on scanning until enough visible ones are found.
-- The index gives them only nearly in order; "+ 0" makes PostgreSQL sort what it takes for sorted.
-- $1-$3 access, $4 vector, $5 how many, $6-$15 filter as in vector_exact, $16 how many more the index may give,
-- $17 number of the vector's model
with near as materialized (
    select v.ns, v.fragment_id, v.entity_id, v.embedding <=> $4::halfvec as distance
      from fragment_vector v
     where (select b.vector_table from base b where b.model_number = $17) = 'fragment_vector'::regclass
       and visible(v.ns, v.acl_id, $1, $2, $3)
       and ($6::boolean or exists (
            select from admitted(v.ns, v.fragment_id, v.entity_id, $7::jsonb, $8, $9, $10, $11, $12, $13, $14, $15)))
       and (($14::text[] is null and $15::text[] is null) or exists (
            select from entity e where e.ns = v.ns and e.entity_id = v.entity_id and in_scope(e.relevance_scopes, $14, $15) offset 0))
     order by v.embedding <=> $4::halfvec
     limit $5::int + $16::int
)
select ns, fragment_id, entity_id, 1 - distance as raw from near order by distance + 0, ns, fragment_id limit $5
