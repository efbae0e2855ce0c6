-- Fragments that hold words or identifiers of a question, ranked: identifiers first, then by BM25 over all its words.
-- $1-$3 access, $4 words that give candidates (tsquery), $5 all words (tsquery each), $6 inverse document frequency of each,
-- $7 mean number of words of a fragment, $8 k1, $9 b, $10 identifiers, $11 patterns of partial identifiers, $12 how many,
-- $13-$22 filter as in vector_exact, $23 whether the index is asked for words only: of many namespaces it would be asked one by one
-- The first words are written out, because that takes 60 % of the time of a subquery (measured: 2,700 candidates, 8 words);
-- one that is missing is null and costs nothing.
select r.ns, r.fragment_id, r.entity_id, r.raw
  from (
select c.ns, c.fragment_id, c.entity_id, c.exact, c.partial, ($8::float8 + 1) * (
           coalesce(word_worth(c.lexemes, ($5::text[])[1]::tsquery, ($6::float8[])[1], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[2]::tsquery, ($6::float8[])[2], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[3]::tsquery, ($6::float8[])[3], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[4]::tsquery, ($6::float8[])[4], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[5]::tsquery, ($6::float8[])[5], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[6]::tsquery, ($6::float8[])[6], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[7]::tsquery, ($6::float8[])[7], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[8]::tsquery, ($6::float8[])[8], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[9]::tsquery, ($6::float8[])[9], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[10]::tsquery, ($6::float8[])[10], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[11]::tsquery, ($6::float8[])[11], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[12]::tsquery, ($6::float8[])[12], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[13]::tsquery, ($6::float8[])[13], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[14]::tsquery, ($6::float8[])[14], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[15]::tsquery, ($6::float8[])[15], c.norm), 0)
         + coalesce(word_worth(c.lexemes, ($5::text[])[16]::tsquery, ($6::float8[])[16], c.norm), 0)
         + case when cardinality($5::text[]) <= 16 then 0 else (
               select sum(word_worth(c.lexemes, w.query::tsquery, w.idf, c.norm))
                 from unnest(($5::text[])[17:], ($6::float8[])[17:]) as w(query, idf)) end) as raw
  from (select l.ns, l.fragment_id, l.entity_id, l.lexemes,
               $8::float8 * (1 - $9::float8 + $9::float8 * l.words / $7::float8) as norm,
               case when cardinality($10::text[]) = 0 then 0
                    else (select count(*) from unnest($10::text[]) i where l.identifiers @> array[i]) end as exact,
               case when cardinality($11::text[]) = 0 then 0
                    else (select count(*) from unnest($11::text[]) p where l.identifier_text like p) end as partial
          from fragment_lexemes l
         where ($23::boolean or l.ns = any($1))
           and (l.lexemes @@ $4::tsquery or l.identifiers && $10::text[] or l.identifier_text like any($11::text[]))
           and visible(l.ns + 0, l.acl_id, $1, $2, $3)
           and ($13::boolean or exists (
                select from admitted(l.ns, l.fragment_id, l.entity_id, $14::jsonb, $15, $16, $17, $18, $19, $20, $21, $22)))
        offset 0) c
 order by c.exact desc, c.partial desc, raw desc, c.ns, c.fragment_id
offset 0) r
 where ($21::text[] is null and $22::text[] is null) or exists (
       select from entity e where e.ns = r.ns and e.entity_id = r.entity_id and in_scope(e.relevance_scopes, $21, $22) offset 0)
 order by r.exact desc, r.partial desc, r.raw desc, r.ns, r.fragment_id
 limit $12
