-- Nearest fragments through the index of a large base, looked for from two sides: first towards the question, then as far beyond it
-- as what was found lies before it. A walk that ended in the cluster beside the right one is so led out of it.
-- $1-$3 access, $4 vector, $5 how many, $6-$15 filter as in vector_exact, $16 how many more the index may give,
-- $17 number of the vector's model
with near as materialized (
    select v.ns, v.fragment_id, v.entity_id, v.embedding, v.embedding <=> $4::halfvec as distance
      from fragment_vector v
     where (select b.vector_table from base b where b.model_number = $17) = 'fragment_vector'::regclass
       and visible(v.ns, v.acl_id, $1, $2, $3)
       and ($6::boolean or exists (
            select from admitted(v.ns, v.fragment_id, v.entity_id, $7::jsonb, $8, $9, $10, $11, $12, $13, $14, $15)))
       and (($14::text[] is null and $15::text[] is null) or exists (
            select from entity e where e.ns = v.ns and e.entity_id = v.entity_id and in_scope(e.relevance_scopes, $14, $15) offset 0))
     order by v.embedding <=> $4::halfvec
     limit $5::int + $16::int
), away as materialized (
    select coalesce(l2_normalize($4::halfvec) + l2_normalize($4::halfvec) - avg(l2_normalize(n.embedding)), $4::halfvec) as direction
      from near n
), beyond as materialized (
    select v.ns, v.fragment_id, v.entity_id, v.embedding <=> $4::halfvec as distance
      from fragment_vector v
     where (select b.vector_table from base b where b.model_number = $17) = 'fragment_vector'::regclass
       and visible(v.ns, v.acl_id, $1, $2, $3)
       and ($6::boolean or exists (
            select from admitted(v.ns, v.fragment_id, v.entity_id, $7::jsonb, $8, $9, $10, $11, $12, $13, $14, $15)))
       and (($14::text[] is null and $15::text[] is null) or exists (
            select from entity e where e.ns = v.ns and e.entity_id = v.entity_id and in_scope(e.relevance_scopes, $14, $15) offset 0))
     order by v.embedding <=> (select a.direction from away a)
     limit $5::int + $16::int
)
select ns, fragment_id, entity_id, 1 - distance as raw
  from (select n.ns, n.fragment_id, n.entity_id, n.distance from near n
        union select b.ns, b.fragment_id, b.entity_id, b.distance from beyond b) found
 order by distance, ns, fragment_id
 limit $5
