-- Marks the words of a question in texts that are given; reads no stored text.
-- $1-$3 access (unused: nothing stored is read), $4 texts, $5 words (tsquery)
select t.ordinal, ts_headline((select search_config from base), t.text, $5::text::tsquery,
                              E'HighlightAll=true, StartSel=\x01, StopSel=\x02') as marked
  from unnest($4::text[]) with ordinality as t(text, ordinal)
