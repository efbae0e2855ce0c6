-- Nearest fragments by comparing every visible one; "+ 0" keeps the index out.
-- $1-$3 access, $4 vector, $5 how many, $6 whether nothing but scopes is filtered,
-- $7-$15 filter: meta, kinds, types, key digests, scopes, updated after, updated before, rule of scopes (requested, allowed),
-- $16 number of the vector's model
-- The rule of scopes lets most pass, so it is asked of the nearest ones until there are enough, and not of all that are visible.
select v.ns, v.fragment_id, v.entity_id, 1 - v.distance as raw
  from (select v.ns, v.fragment_id, v.entity_id, (v.embedding <=> $4::halfvec) + 0 as distance
          from fragment_vector v
         where (select b.vector_table from base b where b.model_number = $16) = 'fragment_vector'::regclass
           and visible(v.ns, v.acl_id, $1, $2, $3)
           and ($6::boolean or exists (
                select from admitted(v.ns, v.fragment_id, v.entity_id, $7::jsonb, $8, $9, $10, $11, $12, $13, $14, $15)))
         order by distance, v.ns, v.fragment_id
        offset 0) v
 where ($14::text[] is null and $15::text[] is null) or exists (
       select from entity e where e.ns = v.ns and e.entity_id = v.entity_id and in_scope(e.relevance_scopes, $14, $15) offset 0)
 order by v.distance, v.ns, v.fragment_id
 limit $5
