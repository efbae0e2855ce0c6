-- The stemmed words of a question without stop words, with how many unrestricted fragments hold each, the size of the corpus,
-- and how large a part of the words is written in the script of each, in the namespace where that part is largest.
-- $1-$3 access (word statistics are kept over what every reader of a namespace sees), $4 question
select w.lexeme, coalesce(sum(s.fragments), 0)::int as fragments, c.fragments::int as corpus, c.words::bigint as corpus_words,
       case when t.words > 0 and script_of(w.lexeme) is not null then (
           select coalesce(max(o.share), 0) from (
               select t.script, t.words / sum(t.words) over (partition by t.ns) as share
                 from script_statistics t where t.ns = any($1)) o
            where o.script = script_of(w.lexeme))::float8 end as script_share
  from (select coalesce(sum(s.fragments), 0) as fragments, coalesce(sum(s.words), 0) as words
          from fragment_statistics s where s.ns = any($1) and s.acl_id = 0) c
 cross join (select coalesce(sum(o.words), 0)::float8 as words from script_statistics o where o.ns = any($1)) t
 cross join unnest(tsvector_to_array(to_tsvector((select search_config from base), $4))) as w(lexeme)
  left join word_statistics s on s.ns = any($1) and s.lexeme = w.lexeme
 group by w.lexeme, c.fragments, c.words, t.words
