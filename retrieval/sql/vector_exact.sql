-- Nearest fragments by comparing every visible one; "+ 0" keeps the index out.
-- $1-$3 access, $4 vector, $5 how many, $6 whether nothing is filtered,
-- $7-$15 filter: meta, kinds, types, key digests, scopes, updated after, updated before, rule of scopes (requested, allowed),
-- $16 number of the vector's model
select v.ns, v.fragment_id, v.entity_id, 1 - (v.embedding <=> $4::halfvec) as raw
  from fragment_vector v
 where (select b.vector_table from base b where b.model_number = $16) = 'fragment_vector'::regclass
   and visible(v.ns, v.acl_id, $1, $2, $3)
   and ($6::boolean or exists (
        select from admitted(v.ns, v.fragment_id, v.entity_id, $7::jsonb, $8, $9, $10, $11, $12, $13, $14, $15)))
 order by (v.embedding <=> $4::halfvec) + 0, v.ns, v.fragment_id
 limit $5
