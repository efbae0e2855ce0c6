-- Counts in how many unrestricted fragments of a namespace each word stands, and writes what differs.
-- $1 namespace
with fresh as materialized (
    select s.word as lexeme, s.ndoc as fragments
      from ts_stat(format('select lexemes from fragment_lexemes where ns = %s and acl_id = 0', $1::int)) s
), gone as (
    delete from word_statistics w
     where w.ns = $1 and not exists (select from fresh f where f.lexeme = w.lexeme)
)
insert into word_statistics as w (ns, lexeme, fragments)
select $1, f.lexeme, f.fragments from fresh f
on conflict (ns, lexeme) do update set fragments = excluded.fragments where w.fragments <> excluded.fragments
