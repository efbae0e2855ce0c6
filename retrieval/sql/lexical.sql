-- Fragments that hold words or identifiers of a question, ranked: identifiers first, then by BM25 over all its words.
-- $1-$3 access, $4 words that give candidates (tsquery), $5 all words (tsquery each), $6 inverse document frequency of each,
-- $7 mean number of words of a fragment, $8 k1, $9 b, $10 identifiers, $11 patterns of partial identifiers, $12 how many,
-- $13-$20 filter as in vector_exact
-- ts_rank of one word is a tenth of the sum of 1/j^2 over its n occurrences, by pi^2/6, so its inverse gives n back;
-- n / (n + norm) is written as 1 - norm / (n + norm), so that ts_rank runs once a word. The first words are written out, because
-- that takes 60 % of the time of a subquery (measured: 2,700 candidates, 8 words); one that is missing is null and costs nothing.
select c.ns, c.fragment_id, c.entity_id, ($8::float8 + 1) * (
           coalesce(($6::float8[])[1] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[1]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[2] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[2]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[3] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[3]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[4] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[4]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[5] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[5]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[6] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[6]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[7] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[7]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[8] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[8]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[9] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[9]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[10] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[10]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[11] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[11]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[12] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[12]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[13] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[13]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[14] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[14]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[15] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[15]::tsquery)) - 0.5))), 0)
         + coalesce(($6::float8[])[16] * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, ($5::text[])[16]::tsquery)) - 0.5))), 0)
         + case when cardinality($5::text[]) <= 16 then 0 else (
               select sum(w.idf * (1 - c.norm / (c.norm + round(0.060792710185 / (0.10000001 - ts_rank(c.lexemes, w.query::tsquery)) - 0.5))))
                 from unnest(($5::text[])[17:], ($6::float8[])[17:]) as w(query, idf)) end) as score
  from (select l.ns, l.fragment_id, l.entity_id, l.lexemes,
               $8::float8 * (1 - $9::float8 + $9::float8 * l.words / $7::float8) as norm,
               case when cardinality($10::text[]) = 0 then 0
                    else (select count(*) from unnest($10::text[]) i where l.identifiers @> array[i]) end as exact,
               case when cardinality($11::text[]) = 0 then 0
                    else (select count(*) from unnest($11::text[]) p where l.identifier_text like p) end as partial
          from fragment_lexemes l
         where l.ns = any($1)
           and (l.lexemes @@ $4::tsquery or l.identifiers && $10::text[] or l.identifier_text like any($11::text[]))
           and visible(l.ns, l.acl_id, $1, $2, $3)
           and ($13::boolean or exists (
                select from admitted(l.ns, l.fragment_id, l.entity_id, $14::jsonb, $15, $16, $17, $18, $19, $20)))
        offset 0) c
 order by c.exact desc, c.partial desc, score desc, c.ns, c.fragment_id
 limit $12
