-- The stemmed words of a question without stop words, with how many unrestricted fragments hold each, the size of the corpus,
-- and how large a part of the words is written in the script of each, in the namespace where that part is largest.
-- $1-$3 access (word statistics are kept over what every reader of a namespace sees), $4 question
with script as materialized (
    select o.script, max(o.share)::float8 as share
      from (select t.script, t.words / sum(t.words) over (partition by t.ns) as share
              from script_statistics t where t.ns = any($1)) o
     group by o.script
), asked as materialized (
    select lexeme, script_of(lexeme) as script
      from unnest(tsvector_to_array(to_tsvector((select search_config from base), $4))) as w(lexeme)
)
select w.lexeme, coalesce(n.fragments, 0)::int as fragments, c.fragments::int as corpus, c.words::bigint as corpus_words,
       case when w.script is not null and exists (select from script where share > 0) then coalesce(o.share, 0) end as script_share
  from asked w
 cross join (select coalesce(sum(s.fragments), 0) as fragments, coalesce(sum(s.words), 0) as words
               from fragment_statistics s where s.ns = any($1) and s.acl_id = 0) c
 cross join lateral (select sum(s.fragments) as fragments from word_statistics s where s.ns = any($1) and s.lexeme = w.lexeme) n
  left join script o on o.script = w.script
