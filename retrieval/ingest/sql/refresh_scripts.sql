-- Counts the words of each script, each once for every unrestricted fragment that holds it, from the counts of words just made.
-- $1 namespace
with fresh as materialized (
    select script_of(w.lexeme) as script, sum(w.fragments)::bigint as words
      from word_statistics w where w.ns = $1 and script_of(w.lexeme) is not null
     group by 1
), gone as (
    delete from script_statistics t where t.ns = $1 and not exists (select from fresh f where f.script = t.script)
)
insert into script_statistics as t (ns, script, words)
select $1, f.script, f.words from fresh f
on conflict (ns, script) do update set words = excluded.words where t.words <> excluded.words
