-- The stemmed words of a question without stop words, with how many unrestricted fragments hold each, and the size of the corpus.
-- $1-$3 access (word statistics are kept over what every reader of a namespace sees), $4 question
select w.lexeme, coalesce(sum(s.fragments), 0)::int as fragments, c.fragments::int as corpus, c.words::bigint as corpus_words
  from (select coalesce(sum(s.fragments), 0) as fragments, coalesce(sum(s.words), 0) as words
          from fragment_statistics s where s.ns = any($1) and s.acl_id = 0) c
 cross join unnest(tsvector_to_array(to_tsvector((select search_config from base), $4))) as w(lexeme)
  left join word_statistics s on s.ns = any($1) and s.lexeme = w.lexeme
 group by w.lexeme, c.fragments, c.words
