-- Fragments that hold words or identifiers of a question, ranked: identifiers first, then by BM25 over all its words.
-- $1-$3 access, $4 words that give candidates (tsquery), $5 all words (tsquery each), $6 inverse document frequency of each,
-- $7 mean number of words of a fragment, $8 k1, $9 b, $10 identifiers, $11 patterns of partial identifiers, $12 how many,
-- $13-$20 filter as in vector_exact
with found as materialized (
    select l.ns, l.fragment_id from fragment_lexemes l where l.ns = any($1) and l.lexemes @@ $4::tsquery
    union
    select l.ns, l.fragment_id from fragment_lexemes l where l.ns = any($1) and l.identifiers && $10::text[]
    union
    select l.ns, l.fragment_id from fragment_lexemes l where l.ns = any($1) and l.identifier_text like any($11::text[])
), candidate as materialized (
    select l.ns, l.fragment_id, l.entity_id, l.words, l.lexemes,
           (select count(*) from unnest($10::text[]) i where l.identifiers @> array[i]) as exact,
           (select count(*) from unnest($11::text[]) p where l.identifier_text like p) as partial
      from found join fragment_lexemes l using (ns, fragment_id)
     where visible(l.ns, l.acl_id, $1, $2, $3)
       and ($13::boolean or exists (
            select from admitted(l.ns, l.fragment_id, l.entity_id, $14::jsonb, $15, $16, $17, $18, $19, $20)))
), word as materialized (
    select w.query::tsquery as query, w.idf from unnest($5::text[], $6::float8[]) as w(query, idf)
)
-- ts_rank of one word is the sum of 1/j^2 over its occurrences, by pi^2/6: its inverse gives the number of occurrences back.
select c.ns, c.fragment_id, c.entity_id,
       coalesce((select sum(w.idf * t.occurrences * ($8::float8 + 1)
                            / (t.occurrences + $8::float8 * (1 - $9::float8 + $9::float8 * c.words / $7::float8)))
                   from word w cross join lateral (
                       select round(1 / (1.64493406685 * (1.0000001 - ts_rank('{1,1,1,1}', c.lexemes, w.query))) - 0.5)
                   ) as t(occurrences)
                  where c.lexemes @@ w.query), 0) as score
  from candidate c
 order by c.exact desc, c.partial desc, score desc, c.ns, c.fragment_id
 limit $12
